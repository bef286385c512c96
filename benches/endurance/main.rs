//! Whether nothing is lost: limits that are exact in hundreds of runs, ten million redirects of which
//! each one counts, and what a `kill -9` under load takes away.
//!
//! ```text
//! cargo bench --bench endurance [-- REDIRECTS KILLS]
//! ```
//!
//! The load comes from raw connections that count every request and every answer. Anything that is not exact ends it with a panic.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

mod stored;

use std::path::Path;
use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::Process;
use kurz_test_support::chaos::kill::program;
use kurz_test_support::load::{Counts, Load, Requests, make_links, total_redirects, until_killed};
use stored::{Stored, stored};

const CONNECTIONS: usize = 64;
const ROUNDS: u64 = 100;
const LINKS: usize = 100_000;
const REDIRECTS: u64 = 10_000_000;
const KILLS: u64 = 12;

fn main() {
    let numbers = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let numbers: Vec<u64> = numbers.collect();
    let redirects = numbers.first().copied().unwrap_or(REDIRECTS);
    let kills = numbers.get(1).copied().unwrap_or(KILLS);

    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    limits(folder.path());
    let before = stored(folder.path()).total;
    let kurz = program(folder.path()).start();
    let paths = make_links(kurz.base_url(), LINKS);
    let known = count_all(folder.path(), kurz, &paths, before, redirects);
    kill_often(folder.path(), &paths, known, kills);
}

/// Rounds of runs on links with a limit.
fn limits(folder: &Path) {
    let kurz = program(folder).start();
    let mut load = Load::connect(kurz.base_url(), CONNECTIONS);
    println!("| limit | rounds | requests | served in each round | s |\n|---|---|---|---|---|");
    for limit in [1, 2, 1_000] {
        let watch = Stopwatch::start();
        let mut requests = 0;
        for round in 0..ROUNDS {
            let (served, refused) = load.exhaust(limit);
            assert_eq!(served, limit, "limit {limit}, round {round}");
            requests += served + refused;
        }
        let seconds = watch.elapsed().as_secs_f64();
        println!("| {limit} | {ROUNDS} | {requests} | {limit} | {seconds:.1} |");
    }
    kurz.stop();
}

/// Redirects under load, then SIGTERM: what the store has is exact. Gives what it has.
fn count_all(folder: &Path, kurz: Process, paths: &[String], before: u64, redirects: u64) -> u64 {
    let watch = Stopwatch::start();
    let counts = Counts::default();
    let times = redirects / CONNECTIONS as u64;
    let mut load = Load::connect(kurz.base_url(), CONNECTIONS);
    let whole = load.run(Requests { paths, times, depth: 16 }, &counts, |_| ());
    assert_eq!(whole, CONNECTIONS);
    // What does not divide goes over one connection.
    let rest = redirects - times * CONNECTIONS as u64;
    let mut one = Load::connect(kurz.base_url(), 1);
    assert_eq!(one.run(Requests { paths, times: rest, depth: 16 }, &counts, |_| ()), 1);
    let seconds = watch.elapsed().as_secs_f64();
    let stopping = Stopwatch::start();
    kurz.stop();
    let stopping = stopping.elapsed().as_secs_f64();
    let known = before + redirects;
    assert_eq!((counts.served(), counts.refused()), (redirects, 0));
    let expected = Stored { total: known, by_link: known, by_hour: known, log_rows: 0 };
    assert_eq!(stored(folder), expected, "after SIGTERM");
    let kurz = program(folder).start();
    assert_eq!(total_redirects(kurz.base_url()), known, "after the restart");
    kurz.stop();
    println!(
        "\n{redirects} redirects of {LINKS} links on {CONNECTIONS} connections in {seconds:.0} s \
         ({:.0} a second), SIGTERM ({stopping:.1} s), restart: the total, the sum over links and the sum \
         over hours each grew by exactly {redirects}.\n",
        redirects as f64 / seconds
    );
    known
}

/// The same load, killed again and again.
fn kill_often(folder: &Path, paths: &[String], mut known: u64, kills: u64) {
    println!(
        "| kill -9 | answered | possibly served | answered 1 s before | counted | missing | they are of the last \
         | started again in |\n|---|---|---|---|---|---|---|---|"
    );
    for kill in 1..=kills {
        let kurz = program(folder).start();
        // At another point between two writes each time.
        let time = Duration::from_millis(3_000 + 37 * kill);
        let base = kurz.base_url().to_owned();
        let seen = until_killed(&base, CONNECTIONS, paths, time, || drop(kurz.kill_9()));
        let watch = Stopwatch::start();
        let kurz = program(folder).start();
        let started_in = watch.elapsed().as_secs_f64();
        let total = total_redirects(kurz.base_url());
        let now = stored(folder);
        let expected = Stored { total, by_link: total, by_hour: total, log_rows: 0 };
        assert_eq!(now, expected, "every sum is the same, and the log is settled");
        let counted = total - known;
        let safe = seen.answered_before(Duration::from_secs(1));
        println!(
            "| {kill} | {} | {} | {safe} | {counted} | {} | {} ms | {:.2} s |",
            seen.answered,
            seen.sent,
            seen.answered.saturating_sub(counted),
            seen.missing(counted).as_millis(),
            started_in
        );
        assert!(counted >= safe, "more than the last second is missing");
        assert!(counted <= seen.sent, "more was counted than was served");
        kurz.stop();
        known = total;
    }
}
