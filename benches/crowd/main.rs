//! A crowd: ten thousand connections held open, half of them sending a byte of a head each second, and
//! what that does to visitors on other connections.
//!
//! ```text
//! cargo bench --bench crowd
//! ```
//!
//! Visitors follow links at a fixed rate on 64 connections, each asking at its own time whether or not
//! the answer before came late: a stall is seen by everybody whom it kept waiting. Quiet and crowded
//! turns alternate. The crowd is a process of its own, so that what it costs its own program is
//! not counted against kurz.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

mod crowd;

use std::net::SocketAddr;
use std::time::Duration;

use kurz_test_support::process::raise_descriptors;
use kurz_test_support::{Process, TestServer, paced};

const ROUNDS: usize = 5;
const TURN: Duration = Duration::from_secs(8);
/// Redirects a second.
const RATE: u32 = 3_200;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let named = args.iter().position(|arg| arg == "--crowd-at");
    let address: Option<SocketAddr> =
        named.and_then(|at| args.get(at + 1)).map(|text| text.parse().unwrap());
    raise_descriptors(10_500);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(address) = address {
        return runtime.block_on(crowd::hold(address));
    }
    let kurz = paced::start(TestServer::builder());
    runtime.block_on(compare(&kurz));
}

async fn compare(kurz: &Process) {
    let path = paced::make_link(kurz).await;
    paced::follow(kurz.address(), &path, RATE, TURN / 4).await;
    let (mut quiet, mut crowded) = (Vec::new(), Vec::new());
    let (mut ratios, mut closed) = (Vec::new(), 0);
    for round in 1..=ROUNDS {
        let alone = paced::follow(kurz.address(), &path, RATE, TURN).await;
        let crowd = crowd::Crowd::gather(kurz.address());
        let among = paced::follow(kurz.address(), &path, RATE, TURN).await;
        let left = crowd.dismiss();
        println!(
            "round {round}: quiet p50 {:.2} ms, p99 {:.2} ms; among {} open connections p50 {:.2} ms, \
             p99 {:.2} ms; {} slow ones were closed; kurz has {:.0} MB",
            alone.p50_ms,
            alone.p99_ms,
            left.open,
            among.p50_ms,
            among.p99_ms,
            left.closed,
            kurz.memory_mb()
        );
        ratios.push(among.p99_ms / alone.p99_ms);
        quiet.push(alone.p99_ms);
        crowded.push(among.p99_ms);
        closed += left.closed;
    }
    println!(
        "\nMedians: p99 quiet {:.2} ms, crowded {:.2} ms, ratio {:.2} (aim: at most 2).",
        paced::median(quiet),
        paced::median(crowded),
        paced::median(ratios)
    );
    assert!(closed > 0, "slow connections are closed");
}
