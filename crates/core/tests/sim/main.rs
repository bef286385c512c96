//! Deterministic simulation of the state machines of `kurz-core`: in every simulated world, with the faults that follow
//! from its seed, every invariant must hold. `docs/SIMULATION.md` describes the worlds, the invariants and
//! the results. Unit tests of a state machine are in its own file.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "in a test, a missing value is a failure, and the results are printed"
)]

mod clicks;
mod rng;
mod links_world;
mod quota;
mod runner;

use runner::{catches, holds, run};

/// Seeds of each world: together more than 100,000.
const SEEDS: u64 = 45_000;
/// Seeds within which a broken rule must be detected.
const BROKEN: u64 = 4_000;

// threats: E1, E3, E4, E5, E7
#[test]
fn a_limit_is_kept_by_many_instances_whatever_fails() {
    holds(
        "a_limit_is_kept_by_many_instances_whatever_fails",
        |rng, trace| quota::run(rng, trace, quota::Flaw::None),
        SEEDS,
    );
}

// threats: E9
#[test]
fn every_click_counts_once_and_only_unflushed_clicks_are_lost() {
    holds(
        "every_click_counts_once_and_only_unflushed_clicks_are_lost",
        |rng, trace| clicks::run(rng, trace, clicks::Flaw::None),
        SEEDS,
    );
}

// threats: F1, F2, B7, D8, E12, E13
#[test]
fn links_survive_power_cuts_and_one_cleanup_runs_at_a_time() {
    holds(
        "links_survive_power_cuts_and_one_cleanup_runs_at_a_time",
        |rng, trace| links_world::run(rng, trace, links_world::Flaw::None),
        SEEDS,
    );
}

#[test]
fn a_broken_quota_rule_is_caught() {
    let words = "served";
    catches(|rng, trace| quota::run(rng, trace, quota::Flaw::OneMore), BROKEN, words);
    catches(|rng, trace| quota::run(rng, trace, quota::Flaw::NoWriters), BROKEN, words);
    catches(|rng, trace| quota::run(rng, trace, quota::Flaw::NoFence), BROKEN, words);
}

#[test]
fn a_click_that_counts_twice_is_caught() {
    catches(|rng, trace| clicks::run(rng, trace, clicks::Flaw::NoTurns), BROKEN, "clicks are safe");
    let twice = |rng: &mut _, trace: &mut _| clicks::run(rng, trace, clicks::Flaw::SettledTwice);
    catches(twice, BROKEN, "the total says");
}

#[test]
fn an_event_that_is_stored_twice_is_caught() {
    let words = "events of";
    catches(|rng, trace| clicks::run(rng, trace, clicks::Flaw::EventsApart), BROKEN, words);
    catches(|rng, trace| clicks::run(rng, trace, clicks::Flaw::CutTwice), BROKEN, words);
}

#[test]
fn a_disk_that_does_not_sync_before_the_answer_is_caught() {
    let words = "was acknowledged and is lost";
    catches(|rng, trace| links_world::run(rng, trace, links_world::Flaw::NoSync), BROKEN, words);
}

#[test]
fn a_lock_without_a_fence_is_caught() {
    let words = "cleaned up";
    catches(|rng, trace| links_world::run(rng, trace, links_world::Flaw::NoFence), BROKEN, words);
}

#[test]
fn a_purge_and_a_claim_without_a_second_check_are_caught() {
    let unchecked = |rng: &mut _, trace: &mut _| {
        links_world::run(rng, trace, links_world::Flaw::PurgeUnchecked)
    };
    catches(unchecked, BROKEN, "is live, and was purged");
    let unchecked = |rng: &mut _, trace: &mut _| {
        links_world::run(rng, trace, links_world::Flaw::ClaimUnchecked)
    };
    catches(unchecked, BROKEN, "belongs to");
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let world: runner::World = |rng, trace| links_world::run(rng, trace, links_world::Flaw::None);
    assert_eq!(run(world, 1, false).0.hash(), run(world, 1, false).0.hash());
    assert_ne!(run(world, 1, false).0.hash(), run(world, 2, false).0.hash());
}
