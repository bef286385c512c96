//! The long forms of the campaigns in `tests/it/campaign`: each on a seed that it prints, bounded, with
//! its figures at the end. Anything that does not hold ends it with a panic that names the seed.
//!
//! ```text
//! cargo bench --bench campaign -- kill [--rounds 1000] [--links 1000000] [--seed N]
//! cargo bench --bench campaign -- backup [--links 1000000]
//! cargo bench --bench campaign -- full [--rounds 20]
//! cargo bench --bench campaign -- corrupt [--rounds 1000]
//! cargo bench --bench campaign -- fleet [--rounds 60]
//! cargo bench --bench campaign -- soak [--minutes 30]
//! ```
//!
//! `docs/evidence/CHAOS.md` says what each one does, what it checks, and what came of the last run.
#![expect(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench that shares files with the tests: it talks on stdout, and ends when something is missing"
)]

#[path = "../../tests/it/campaign/mod.rs"]
mod campaign;
#[path = "../growth/fill.rs"]
mod fill;
#[path = "../../tests/it/harness/mod.rs"]
mod harness;
#[path = "../../tests/it/links.rs"]
mod links;
mod scale;

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};

use campaign::{backup, corrupt, fleet, full, kill, soak};

/// What the command line says.
struct Orders {
    campaign: String,
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
            campaign: String::new(),
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
                name => name.clone_into(&mut orders.campaign),
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
    println!("campaign {} with --seed {}", orders.campaign, orders.seed);
    let runtime = fill::runtime();
    match orders.campaign.as_str() {
        "kill" => runtime.block_on(kill(&orders)),
        "backup" => runtime.block_on(backup(&orders)),
        "full" => runtime.block_on(full(&orders)),
        "corrupt" => runtime.block_on(corrupt(&orders)),
        "fleet" => runtime.block_on(fleet(&orders)),
        "soak" => runtime.block_on(soak(&orders)),
        // Not a word: cargo runs every bench when it is asked for none.
        "" => println!("name one: kill, backup, full, corrupt, fleet, soak"),
        other => panic!("there is no campaign `{other}`: see docs/evidence/CHAOS.md"),
    }
}

/// A folder with a store of so many links in it, made once and copied.
fn stocked(links: usize) -> tempfile::TempDir {
    let shelf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("campaign");
    fs::create_dir_all(&shelf).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if links > 0 {
        fs::copy(fill::filled(&shelf, links), folder.path().join("kurz.db")).unwrap();
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
    let figures = full::run(orders.seed, orders.rounds.unwrap_or(20), hold).await;
    println!("{figures}");
    let late = figures.healed_in.iter().any(|took| *took > Duration::from_secs(5));
    assert!(!late, "it healed too late");
}

async fn corrupt(orders: &Orders) {
    println!("{}", corrupt::run(orders.seed, orders.rounds.unwrap_or(1000)).await);
}

async fn fleet(orders: &Orders) {
    let plan = fleet::Plan {
        seed: orders.seed,
        faults: orders.rounds.unwrap_or(60),
        lasting_ms: (500, 6_000),
        clients: 24,
        skew: ["+5m", "-5m"],
    };
    println!("{}", fleet::run(plan, |line| println!("{line}")).await);
}

async fn soak(orders: &Orders) {
    raise_descriptors();
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

/// As many descriptors as the system lets this process have.
fn raise_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let enough = limit.maximum.is_none_or(|most| most >= 10_000);
    assert!(enough, "10,000 descriptors are needed: raise the hard limit (ulimit -Hn)");
}
