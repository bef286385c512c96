//! Runs a world for many seeds, on all processors, and reports the seeds that failed with the command that
//! repeats them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::rng::{Rng, Trace};

/// A world: runs one seed, and returns which invariant failed.
pub(crate) type World = fn(&mut Rng, &mut Trace) -> Result<(), String>;

/// One in so many seeds is run twice: the trace must be the same.
const TWICE: u64 = 100;

/// The result of many runs.
#[derive(Debug, Default)]
pub(crate) struct Exploration {
    pub(crate) events: u64,
    pub(crate) failed: Vec<(u64, String)>,
}

/// One run.
pub(crate) fn run(world: World, seed: u64, prints: bool) -> (Trace, Result<(), String>) {
    let (mut rng, mut trace) = (Rng::new(seed), Trace::new(prints));
    let end = world(&mut rng, &mut trace);
    (trace, end)
}

/// Run `world` for the seeds 0 up to `count`; stop after the first few that fail.
pub(crate) fn explore(world: World, count: u64) -> Exploration {
    let next = AtomicU64::new(0);
    let exploration = Mutex::new(Exploration::default());
    let work = || {
        let mut events = 0;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                break;
            }
            let (trace, end) = run(world, seed, false);
            events += trace.events;
            let mut failure = end.err();
            if seed.is_multiple_of(TWICE) && run(world, seed, false).0.hash() != trace.hash() {
                failure.get_or_insert_with(|| "the same seed gave two traces".to_owned());
            }
            if let Some(failure) = failure {
                let mut exploration = exploration.lock().unwrap();
                exploration.failed.push((seed, failure));
                if exploration.failed.len() >= 3 {
                    next.store(count, Ordering::Relaxed);
                }
            }
        }
        exploration.lock().unwrap().events += events;
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    exploration.into_inner().unwrap()
}

/// All of `count` seeds must pass. With `KURZ_SIM_SEED` only that one is run, and its events are printed;
/// `KURZ_SIM_SEEDS` sets another count.
#[track_caller]
pub(crate) fn holds(name: &str, world: World, count: u64) {
    if let Some(seed) = given("KURZ_SIM_SEED") {
        let (trace, end) = run(world, seed, true);
        println!("{name}, seed {seed}: {} events, hash {:016x}", trace.events, trace.hash());
        end.unwrap_or_else(|failure| panic!("{name}, seed {seed}: {failure}"));
        return;
    }
    let count = given("KURZ_SIM_SEEDS").unwrap_or(count);
    let exploration = explore(world, count);
    println!("{name}: {count} seeds, {} events", exploration.events);
    let failed = exploration.failed.iter().map(|(seed, failure)| {
        format!(
            "{name}, seed {seed}: {failure}\n  \
             again: KURZ_SIM_SEED={seed} cargo test -p kurz-core --test sim {name} -- --nocapture"
        )
    });
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// At least one of `count` seeds must fail with these `words`.
#[track_caller]
pub(crate) fn catches(world: World, count: u64, words: &str) {
    let exploration = explore(world, count);
    let caught = exploration.failed.iter().any(|(_, failure)| failure.contains(words));
    assert!(caught, "{count} seeds passed though the rule is broken: {:?}", exploration.failed);
}

fn given(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a developer chooses a seed to repeat")]
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text}")))
}
