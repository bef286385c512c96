//! Redirects, side by side: nginx's static `return 302`, kurz with everything on, and any peer that
//! is named, loaded in turns by wrk on the same machine.
//!
//! ```text
//! cargo bench --bench compare [-- uniform|hot|cold] [--rounds N] [--seconds N] [--peer NAME=URL[,PID]]
//! ```
//!
//! Servers are loaded one after the other, round by round, so that noise affects all equally; the table
//! has medians, and ratios to nginx are medians of the rounds' own ratios. CPU is what `/proc` says
//! all processes of a server used, over the requests that wrk counted.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

mod load;
mod servers;
mod table;

use std::time::Duration;

use load::{Scenario, Wrk};
use servers::{Kurz, Nginx, Peer, Target};

struct Options {
    scenarios: Vec<Scenario>,
    rounds: usize,
    seconds: u64,
    peers: Vec<Peer>,
}

fn main() {
    let options = options();
    for scenario in options.scenarios {
        compare(scenario, &options.peers, options.rounds, options.seconds);
    }
}

fn compare(scenario: Scenario, peers: &[Peer], rounds: usize, seconds: u64) {
    let folder = tempfile::tempdir().unwrap();
    println!("\n## {}\n", scenario.describe());
    let kurz = Kurz::start(folder.path(), scenario.cache_bytes());
    let idle = kurz.memory_mb();
    let codes = kurz.fill(scenario.links());
    // Memory that was used for creating the links is not part of the redirects' figures.
    drop(kurz);
    let kurz = Kurz::start(folder.path(), scenario.cache_bytes());
    if !matches!(scenario, Scenario::Cold) {
        kurz.follow_all(&codes);
    }
    let nginx = Nginx::start(folder.path());
    let wrk = Wrk::new(folder.path(), &codes, scenario);
    let mut targets: Vec<&dyn Target> = vec![&nginx, &kurz];
    targets.extend(peers.iter().map(|peer| -> &dyn Target { peer }));

    for target in &targets {
        wrk.run(*target, Duration::from_secs(seconds.min(3)));
    }
    let mut samples = vec![Vec::new(); targets.len()];
    for _ in 0..rounds {
        for (target, samples) in targets.iter().zip(&mut samples) {
            samples.push(wrk.run(*target, Duration::from_secs(seconds)));
        }
    }
    let names: Vec<String> = targets.iter().map(|target| target.name()).collect();
    table::print(&names, &samples);
    println!(
        "\nkurz's memory before the first link: {idle:.0} MB. wrk: 2 threads, 64 connections, {rounds} rounds of {seconds} s."
    );
    kurz.check_totals();
}

fn options() -> Options {
    let mut options = Options { scenarios: Vec::new(), rounds: 7, seconds: 5, peers: Vec::new() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "uniform" => options.scenarios.push(Scenario::Uniform),
            "hot" => options.scenarios.push(Scenario::Hot),
            "cold" => options.scenarios.push(Scenario::Cold),
            "--rounds" => options.rounds = args.next().unwrap().parse().unwrap(),
            "--seconds" => options.seconds = args.next().unwrap().parse().unwrap(),
            "--peer" => options.peers.push(Peer::parse(&args.next().unwrap())),
            // Added by cargo.
            "--bench" => {}
            other => panic!("unknown argument {other}: see the top of benches/compare/main.rs"),
        }
    }
    if options.scenarios.is_empty() {
        options.scenarios = vec![Scenario::Uniform, Scenario::Hot, Scenario::Cold];
    }
    options
}
