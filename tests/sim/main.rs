//! kurz's machines without I/O under a seeded simulator: many small worlds, each with its own faults, in
//! each of which every promise must hold. `docs/evidence/SIMULATION.md` has the worlds, the promises and the
//! figures. What a machine does by itself is tested in its own file.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "in a test, what is not there is a failure, and the figures are told"
)]

mod clicks;
mod rng;
mod links_world;
mod quota;
mod runner;

use runner::{catches, holds, run};

/// Seeds of each world: together more than 100,000.
const SEEDS: u64 = 45_000;
/// Seeds after which a broken rule must have been noticed.
const BROKEN: u64 = 4_000;

// threats: E1, E3, E4, E5, E7
#[test]
fn a_limit_is_kept_by_many_instances_whatever_fails() {
    holds(
        "a_limit_is_kept_by_many_instances_whatever_fails",
        |rng, story| quota::run(rng, story, quota::Flaw::None),
        SEEDS,
    );
}

// threats: E9
#[test]
fn every_click_counts_once_and_only_what_was_not_flushed_is_lost() {
    holds(
        "every_click_counts_once_and_only_what_was_not_flushed_is_lost",
        |rng, story| clicks::run(rng, story, clicks::Flaw::None),
        SEEDS,
    );
}

// threats: F1, F2, B7, D8, E12, E13
#[test]
fn links_outlive_power_cuts_and_one_cleanup_works_at_a_time() {
    holds(
        "links_outlive_power_cuts_and_one_cleanup_works_at_a_time",
        |rng, story| links_world::run(rng, story, links_world::Flaw::None),
        SEEDS,
    );
}

#[test]
fn a_broken_quota_rule_is_caught() {
    let words = "of a limit of";
    catches(|rng, story| quota::run(rng, story, quota::Flaw::OneMore), BROKEN, words);
    catches(|rng, story| quota::run(rng, story, quota::Flaw::NoMemory), BROKEN, words);
    catches(|rng, story| quota::run(rng, story, quota::Flaw::EmptySeed), BROKEN, words);
}

#[test]
fn a_click_that_counts_twice_is_caught() {
    catches(|rng, story| clicks::run(rng, story, clicks::Flaw::NoTurns), BROKEN, "counted of");
    let twice = |rng: &mut _, story: &mut _| clicks::run(rng, story, clicks::Flaw::SettledTwice);
    catches(twice, BROKEN, "the total says");
}

#[test]
fn a_disk_that_does_not_sync_before_the_answer_is_caught() {
    let words = "was acknowledged and is lost";
    catches(|rng, story| links_world::run(rng, story, links_world::Flaw::NoSync), BROKEN, words);
}

#[test]
fn a_lock_without_a_fence_is_caught() {
    let words = "cleaned up";
    catches(|rng, story| links_world::run(rng, story, links_world::Flaw::NoFence), BROKEN, words);
}

#[test]
fn a_purge_and_a_claim_that_do_not_ask_again_are_caught() {
    let unasked =
        |rng: &mut _, story: &mut _| links_world::run(rng, story, links_world::Flaw::PurgeUnasked);
    catches(unasked, BROKEN, "lives, and was purged");
    let unasked =
        |rng: &mut _, story: &mut _| links_world::run(rng, story, links_world::Flaw::ClaimUnasked);
    catches(unasked, BROKEN, "belongs to");
}

#[test]
fn another_seed_tells_another_story_and_the_same_seed_the_same() {
    let world: runner::World = |rng, story| links_world::run(rng, story, links_world::Flaw::None);
    assert_eq!(run(world, 1, false).0.hash(), run(world, 1, false).0.hash());
    assert_ne!(run(world, 1, false).0.hash(), run(world, 2, false).0.hash());
}
