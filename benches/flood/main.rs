//! A flood: five hundred logins a second, or twenty thousand addresses that do not exist, and what that
//! does to those who follow links meanwhile.
//!
//! ```text
//! cargo bench --bench flood                # logins
//! cargo bench --bench flood -- --misses
//! ```
//!
//! kurz has its default limits. Visitors follow a link 5,000 times a second on 64 connections, each
//! asking at its own time whether or not the answer before came late. Quiet and flooded turns
//! alternate. The flood is a process of its own, comes from hundreds of addresses of this machine,
//! and shares its two cores.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

mod water;

use std::time::Duration;

use kurz_test_support::process::raise_descriptors;
use kurz_test_support::{TestServer, paced};
use water::{Kind, Water};

const ROUNDS: usize = 5;
const TURN: Duration = Duration::from_secs(8);
/// Redirects a second.
const RATE: u32 = 5_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let kind = if has("--misses") { Kind::Misses } else { Kind::Logins };
    raise_descriptors(10_500);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(at) = args.iter().position(|arg| arg == "--flood-at") {
        let address = args.get(at + 1).unwrap().parse().unwrap();
        return runtime.block_on(water::flow(address, kind));
    }
    runtime.block_on(compare(kind));
}

async fn compare(kind: Kind) {
    // Open, so that a link can be made with a chosen code; the limits of this bench hold all the same.
    let kurz = paced::start(TestServer::builder().limits());
    let path = paced::make_link(&kurz).await;
    paced::follow(kurz.address(), &path, RATE, TURN / 4).await;
    let (mut quiet, mut flooded, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let alone = paced::follow(kurz.address(), &path, RATE, TURN).await;
        let water = Water::let_in(kurz.address(), kind);
        let among = paced::follow(kurz.address(), &path, RATE, TURN).await;
        let answers = water.stop();
        println!(
            "round {round}: quiet p50 {:.2} ms, p99 {:.2} ms; flooded p50 {:.2} ms, p99 {:.2} ms; \
             the flood was answered {answers}; kurz has {:.0} MB",
            alone.p50_ms,
            alone.p99_ms,
            among.p50_ms,
            among.p99_ms,
            kurz.memory_mb()
        );
        ratios.push(among.p99_ms / alone.p99_ms);
        quiet.push(alone.p99_ms);
        flooded.push(among.p99_ms);
    }
    println!(
        "\nMedians: p99 quiet {:.2} ms, flooded {:.2} ms, ratio {:.2} (aim: at most 2).",
        paced::median(quiet),
        paced::median(flooded),
        paced::median(ratios)
    );
}
