//! The scenarios of `kurz_test_support::chaos` at length: each on a seed that it prints, bounded, with
//! its figures at the end. Anything that does not hold ends it with a panic that names the seed.
//!
//! ```text
//! cargo bench --bench chaos -- kill [--rounds 1000] [--links 1000000] [--seed N]
//! cargo bench --bench chaos -- backup [--links 1000000]
//! cargo bench --bench chaos -- full [--rounds 20]
//! cargo bench --bench chaos -- corrupt [--rounds 1000]
//! cargo bench --bench chaos -- instances [--rounds 60]
//! cargo bench --bench chaos -- soak [--minutes 30]
//! ```
//!
//! `docs/evidence/CHAOS.md` says what each one does, what it checks, and the figures of the last run.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench: it talks on stdout, and ends when something is missing"
)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use kurz_test_support::chaos::{backup, corrupt, disk_full, instances, kill, soak};
use kurz_test_support::prefilled;
use kurz_test_support::process::raise_descriptors;

/// What the command line says.
struct Orders {
    scenario: String,
    seed: u64,
    rounds: Option<u64>,
    links: Option<usize>,
    minutes: Option<u64>,
}

impl Orders {
    fn read() -> Self {
        // cargo adds `--bench`.
        let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
        let mut orders = Self {
            scenario: String::new(),
            seed: seed(),
            rounds: None,
            links: None,
            minutes: None,
        };
        while let Some(arg) = args.next() {
            let mut number = || -> u64 {
                let text = args.next().unwrap_or_default().replace(['_', ','], "");
                text.parse().unwrap_or_else(|_| panic!("{arg} takes a number, not `{text}`"))
            };
            match arg.as_str() {
                "--seed" => orders.seed = number(),
                "--rounds" => orders.rounds = Some(number()),
                "--minutes" => orders.minutes = Some(number()),
                "--links" => orders.links = Some(usize::try_from(number()).unwrap()),
                name => name.clone_into(&mut orders.scenario),
            }
        }
        orders
    }
}

fn seed() -> u64 {
    let mut bytes = [0; 4];
    kurz::entropy::Entropy::os().fill(&mut bytes);
    u32::from_ne_bytes(bytes).into()
}

fn main() {
    let orders = Orders::read();
    println!("chaos {} with --seed {}", orders.scenario, orders.seed);
    let runtime = prefilled::runtime();
    match orders.scenario.as_str() {
        "kill" => runtime.block_on(kill(&orders)),
        "backup" => runtime.block_on(backup(&orders)),
        "full" => runtime.block_on(full(&orders)),
        "corrupt" => runtime.block_on(corrupt(&orders)),
        "instances" => runtime.block_on(instances(&orders)),
        "soak" => runtime.block_on(soak(&orders)),
        // Not a word: cargo runs every bench when it is asked for none.
        "" => println!("name one: kill, backup, full, corrupt, instances, soak"),
        other => panic!("there is no scenario `{other}`"),
    }
}

/// A folder with a store of so many links in it, made once and copied.
fn stocked(links: usize) -> tempfile::TempDir {
    let shelf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chaos");
    fs::create_dir_all(&shelf).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if links > 0 {
        fs::copy(prefilled::filled(&shelf, links), folder.path().join("kurz.db")).unwrap();
    }
    folder
}

async fn kill(orders: &Orders) {
    let links = orders.links.unwrap_or(1_000_000);
    let folder = tokio::task::block_in_place(|| stocked(links));
    let kills = orders.rounds.unwrap_or(1000);
    let plan = kill::Plan { seed: orders.seed, kills, after_ms: (50, 900) };
    let figures = kill::run(plan, folder.path(), |kill, took| {
        if kill % 50 == 0 {
            println!("{kill} kills; started again in {took:?}");
        }
    });
    println!("On {links} links, {}", figures.await);
}

async fn backup(orders: &Orders) {
    let folder = tokio::task::block_in_place(|| stocked(orders.links.unwrap_or(1_000_000)));
    let figures = backup::run(orders.seed, folder.path(), 64).await;
    println!("{figures}");
    assert!(figures.backup + figures.restore < Duration::from_mins(1), "it took too long");
}

async fn full(orders: &Orders) {
    let hold = Duration::from_secs(10);
    let figures = disk_full::run(orders.seed, orders.rounds.unwrap_or(20), hold).await;
    println!("{figures}");
    let late = figures.healed_in.iter().any(|took| *took > Duration::from_secs(5));
    assert!(!late, "it healed too late");
}

async fn corrupt(orders: &Orders) {
    println!("{}", corrupt::run(orders.seed, orders.rounds.unwrap_or(1000)).await);
}

async fn instances(orders: &Orders) {
    let plan = instances::Plan {
        seed: orders.seed,
        faults: orders.rounds.unwrap_or(60),
        lasting_ms: (500, 6_000),
        clients: 24,
        skew: ["+5m", "-5m"],
    };
    println!("{}", instances::run(plan, |line| println!("{line}")).await);
}

async fn soak(orders: &Orders) {
    raise_descriptors(10_000);
    let plan = soak::Plan {
        seed: orders.seed,
        active: 256,
        resting: 9_000,
        every: Duration::from_millis(250),
        filling: 8_000,
        warm_up: Duration::from_mins(3),
        span: Duration::from_mins(orders.minutes.unwrap_or(30)),
        sample: Duration::from_secs(5),
    };
    let figures = soak::run(plan, |sample, requests| {
        if sample.at.as_secs() % 60 < 5 {
            println!("{requests} requests; {sample:?}");
        }
    })
    .await;
    println!("{:?} after {:?} of warming up: {figures}", plan.span, plan.warm_up);
    assert!(figures.errors.is_empty() && figures.resting_at_end == plan.resting);
    assert!(figures.kib_an_hour() < 1024.0, "its memory grows");
}
