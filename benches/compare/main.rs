//! Redirects, side by side: nginx's static `return 302`, kurz with everything on, and any peer that
//! is named, loaded in turns by wrk on the same machine.
//!
//! ```text
//! cargo bench --bench compare [-- uniform|hot|query|browser|mixed|close|proxy|cold] [--rounds N] [--seconds N]
//!     [--cache SIZE] [--peer NAME=URL[,PID]] [--before PROGRAM]
//! ```
//!
//! `--before` names an older build of kurz, which gets a copy of the same links and is loaded in the same
//! turns: what a change costs.
//!
//! kurz runs with its default cache, but in `cold` and with `--cache`.
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

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use load::{Scenario, Wrk};
use servers::{Kurz, Nginx, Peer, Proxied, Target};

struct Options {
    scenarios: Vec<Scenario>,
    rounds: usize,
    seconds: u64,
    cache: Option<String>,
    peers: Vec<Peer>,
    before: Option<PathBuf>,
}

fn main() {
    let options = options();
    for scenario in &options.scenarios {
        compare(*scenario, &options);
    }
}

fn compare(scenario: Scenario, options: &Options) {
    let Options { rounds, seconds, cache, peers, before, .. } = options;
    let (rounds, seconds) = (*rounds, *seconds);
    let folder = tempfile::tempdir().unwrap();
    println!("\n## {}\n", scenario.describe());
    let cache = cache.as_deref().or(scenario.cache_bytes());
    // The older program makes the links, since it cannot read a newer store.
    let start = || match before {
        Some(program) => Kurz::start_program("kurz before", program, folder.path(), cache),
        None => Kurz::start(folder.path(), cache),
    };
    let kurz = start();
    let idle = kurz.memory_mb();
    let codes = kurz.fill(scenario.links(), scenario.planned());
    // Memory that was used for creating the links is not part of the redirects' figures.
    drop(kurz);
    let old = before.as_ref().map(|program| {
        let own = folder.path().join("before");
        fs::create_dir(&own).unwrap();
        fs::copy(folder.path().join("kurz.db"), own.join("kurz.db")).unwrap();
        let old = Kurz::start_program("kurz before", program, &own, cache);
        old.follow_all(&codes);
        old
    });
    let kurz = Kurz::start(folder.path(), cache);
    if scenario != Scenario::Cold {
        kurz.follow_all(&codes);
    }
    let nginx = Nginx::start(folder.path());
    let wrk = Wrk::new(folder.path(), &codes, scenario);
    let servers: [&dyn Target; 2] = [&nginx, &kurz];
    let proxies: Vec<Proxied<'_>> = if scenario == Scenario::Proxy {
        let proxy = |(name, server)| Proxied::start(folder.path(), name, server);
        ["proxy-1", "proxy-2"].into_iter().zip(servers).map(proxy).collect()
    } else {
        Vec::new()
    };
    let mut targets: Vec<&dyn Target> = if proxies.is_empty() {
        servers.to_vec()
    } else {
        proxies.iter().map(|proxy| -> &dyn Target { proxy }).collect()
    };
    targets.extend(old.iter().map(|old| -> &dyn Target { old }));
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
    if old.is_some() {
        table::print_ratio("kurz compared with kurz before", &samples[1], &samples[2]);
    }
    println!(
        "\nkurz's memory before the first link: {idle:.0} MB. wrk: 2 threads, 64 connections, {rounds} rounds of {seconds} s."
    );
    kurz.check_totals();
}

fn options() -> Options {
    let mut options = Options {
        scenarios: Vec::new(),
        rounds: 7,
        seconds: 5,
        cache: None,
        peers: Vec::new(),
        before: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--rounds" => options.rounds = args.next().unwrap().parse().unwrap(),
            "--seconds" => options.seconds = args.next().unwrap().parse().unwrap(),
            "--cache" => options.cache = args.next(),
            "--before" => options.before = args.next().map(PathBuf::from),
            "--peer" => options.peers.push(Peer::parse(&args.next().unwrap())),
            // Added by cargo.
            "--bench" => {}
            other => {
                let named = Scenario::ALL.iter().find(|(name, _)| *name == other);
                let known =
                    || panic!("unknown argument {other}: see the top of benches/compare/main.rs");
                options.scenarios.push(named.map_or_else(known, |(_, scenario)| *scenario));
            }
        }
    }
    if options.scenarios.is_empty() {
        options.scenarios = Scenario::ALL.map(|(_, scenario)| scenario).to_vec();
    }
    options
}
