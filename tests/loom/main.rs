//! The cells that threads share without a lock, and the locks that they share for a moment, in every order
//! that the memory model allows: loom runs the real files of `src`, with its own atomics and locks in
//! the place of the standard library's (`sync`). Not the machines: those are in `tests/sim`.
//!
//! Without the test harness, which would also compile the files' own tests: they need real threads.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test, what is not there is a failure, and the results are told"
)]

#[path = "../../src/clock.rs"]
#[expect(dead_code, unreachable_pub, unused_imports, reason = "only the instant is needed here")]
mod clock;
#[expect(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "only a part of each file is needed here"
)]
mod quota;
#[expect(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "only a part of each file is needed here"
)]
mod link;
#[expect(dead_code, unreachable_pub, reason = "only a part of each file is needed here")]
mod cache;
#[expect(dead_code, unreachable_pub, reason = "only a part of each file is needed here")]
mod clicks;
mod sync;

use std::panic::catch_unwind;

/// What is run, by name; a planted race must be found.
const TESTS: &[(&str, fn())] = &[
    // threats: E1
    ("three_threads_take_exactly_the_limit", quota::races::exactly_the_limit),
    // threats: E3
    ("a_new_month_begins_once", quota::races::a_new_month_begins_once),
    // threats: E1
    ("what_is_added_and_what_is_taken_both_count", quota::races::added_and_taken),
    // threats: E9
    ("no_click_is_lost_between_a_worker_and_the_writer", clicks::races::handoff),
    // threats: E9
    ("counters_never_lose_a_hit", cache::races::counters_are_never_lost),
    ("a_take_in_two_steps_is_found", || finds(quota::races::take_in_two_steps)),
    ("a_load_that_does_not_name_its_round_is_found", || finds(cache::races::no_round)),
];

/// The planted race must end in a panic.
fn finds(race: fn()) {
    std::panic::set_hook(Box::new(|_| {}));
    let found = catch_unwind(race).is_err();
    let _ = std::panic::take_hook();
    assert!(found, "the race was not found");
}

fn main() {
    // As the test harness does: names that hold one of the words, none of them if they are options.
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    if std::env::args().any(|word| word == "--list") {
        for (name, _) in TESTS {
            println!("{name}: test");
        }
        return;
    }
    for (name, test) in TESTS.iter().filter(|(name, _)| chosen(name)) {
        test();
        println!("test {name} ... ok");
    }
}
