//! How fast links are created: one at a time by many callers, and by the thousand, on both databases,
//! compared with the rate at which plain rusqlite fills the same tables. It measures whole calls; the
//! pure functions are `benches/pure.rs`.
//!
//! `./scripts/with-servers cargo bench --bench creation`, and to run a part only, one or more of
//! `single`, `bulk`, `sqlite`, `postgres`, `empty`, `full` after `--`.

#![expect(clippy::print_stdout, reason = "the table is the result")]

mod bulk;
mod cpu;
mod figures;
mod http;
mod input;
mod raw;
mod single;
mod stores;

use std::time::Duration;

use stores::{Kind, Place};

/// Rounds, each of which measures everything once; medians of them are shown.
const ROUNDS: usize = 5;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let named = |word: &str| words.iter().any(|given| given == word);
    let wanted = |group: [&str; 2], word: &str| !group.into_iter().any(named) || named(word);
    let kind = |kind: &Kind| wanted(["sqlite", "postgres"], kind.word());
    let kinds: Vec<Kind> = [Kind::Sqlite, Kind::Postgres].into_iter().filter(kind).collect();
    let sizes = ["empty", "full"].map(|size| wanted(["empty", "full"], size));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("bench")
        .enable_all()
        .build()
        .expect("a process may have a runtime");
    let place = Place::new();
    println!("{}", place.describe());
    runtime.block_on(async {
        if wanted(["single", "bulk"], "single") {
            single::run(&place, &kinds).await;
        }
        if wanted(["single", "bulk"], "bulk") {
            bulk::run(&place, &kinds, sizes).await;
        }
    });
    // Threads that still hold a database must not keep its folder from being removed.
    runtime.shutdown_timeout(Duration::from_secs(5));
}
