//! The lock-free counters and the short locks of the redirect path, in every interleaving that the memory model
//! allows: with the feature `loom`, the types of `kurz-core` use loom's atomics and locks. State machines
//! without threads are in `tests/sim`.
//!
//! Two tests run code with a deliberate race, to show that loom finds it. Without the test harness, so that a
//! caught panic of those two is not reported as a failure.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "in a test, a missing value is a failure, and the results are printed"
)]

use std::panic::catch_unwind;

use kurz_core::clicks::{Click, ClickDetails, ClickQueue, ClickTotals, QueuedClicks};
use kurz_core::counters::{CounterTable, HoldsCounters, LinkCounters};
use kurz_core::link::{Hour, LinkId, Month};
use kurz_core::quota::LocalQuota;
use kurz_core::time::Timestamp;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

const TESTS: &[(&str, fn())] = &[
    // threats: E1
    ("three_threads_take_exactly_the_limit", three_threads_take_exactly_the_limit),
    // threats: E3
    ("a_new_month_begins_once", a_new_month_begins_once),
    // threats: E1
    ("added_and_taken_hits_both_count", added_and_taken_hits_both_count),
    // threats: E9
    ("no_click_is_lost_between_a_worker_and_the_writer", no_click_is_lost),
    // threats: E9
    ("counters_never_lose_a_hit", || loom::model(|| load_during_a_write(true))),
    ("a_take_in_two_steps_is_found", || finds(take_in_two_steps)),
    ("a_load_without_the_round_of_its_read_is_found", || finds(load_with_a_late_round)),
];

const JUNE: Month = Month::from_number(24_000);
const JULY: Month = Month::from_number(24_001);
const LINK: LinkId = LinkId(1);
const AT: Timestamp = Timestamp::from_ms(1_773_576_000_000);

/// Runs each of these takes on a thread of its own.
fn take_in_parallel(quota: &Arc<LocalQuota>, takes: &[(Month, u64)]) -> Vec<Option<Month>> {
    let take = |&(month, limit): &(Month, u64)| {
        let quota = Arc::clone(quota);
        thread::spawn(move || quota.take(month, limit))
    };
    let threads: Vec<_> = takes.iter().map(take).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn three_threads_take_exactly_the_limit() {
    loom::model(|| {
        let quota = Arc::new(LocalQuota::new(JUNE, 1));
        let taken = take_in_parallel(&quota, &[(JUNE, 3), (JUNE, 3), (JUNE, 3)]);
        assert_eq!(taken.iter().flatten().count(), 2);
        assert_eq!(quota.used(), (JUNE, 3));
    });
}

fn a_new_month_begins_once() {
    loom::model(|| {
        let quota = Arc::new(LocalQuota::new(JUNE, 0));
        let taken = take_in_parallel(&quota, &[(JUNE, 1), (JULY, 1), (JULY, 1)]);
        let of = |month| taken.iter().flatten().filter(|taken| **taken == month).count();
        // A take for the old month after the new one began counts in the new one.
        assert!(of(JUNE) <= 1 && of(JULY) == 1, "{taken:?}");
        assert_eq!(quota.used(), (JULY, 1));
    });
}

fn added_and_taken_hits_both_count() {
    loom::model(|| {
        let quota = Arc::new(LocalQuota::new(JUNE, 0));
        let adding = Arc::clone(&quota);
        let adder = thread::spawn(move || adding.add(JUNE, 2));
        let taken = take_in_parallel(&quota, &[(JUNE, 4)]).iter().flatten().count();
        adder.join().unwrap();
        assert_eq!(quota.used(), (JUNE, 2 + u64::try_from(taken).unwrap()));
    });
}

/// A quota that reads and then writes: two threads can both see the last free hit.
fn take_in_two_steps() {
    loom::model(|| {
        let used = Arc::new(AtomicU64::new(0));
        let served = Arc::new(AtomicU64::new(0));
        let take = || {
            let (used, served) = (Arc::clone(&used), Arc::clone(&served));
            thread::spawn(move || {
                let before = used.load(Ordering::Acquire);
                if before < 1 {
                    used.store(before + 1, Ordering::Release);
                    served.fetch_add(1, Ordering::AcqRel);
                }
            })
        };
        let threads = [take(), take()];
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(served.load(Ordering::Acquire) <= 1, "more than the limit was served");
    });
}

fn no_click_is_lost() {
    let details = ClickDetails { host: b"kurz.example", visitor: None, seed: 1 };
    loom::model(move || {
        let queue = Arc::new(ClickQueue::default());
        let worker = Arc::clone(&queue);
        let worker = thread::spawn(move || {
            assert!(worker.push(Click::new(LINK, AT, 1), Some(&details)));
            assert!(worker.push(Click::new(LINK, AT, 2), Some(&details)));
        });
        let mut seen = Vec::new();
        let mut collect = || {
            let mut queued = QueuedClicks::default();
            queue.exchange(&mut queued);
            for click in &queued.clicks {
                assert_eq!(queued.texts.get(click.host), b"kurz.example", "with its text");
                seen.push(click.nanos);
            }
        };
        collect();
        worker.join().unwrap();
        collect();
        assert_eq!(seen, [1, 2], "each once, in order");
    });
}

/// Counters without a cached link around them.
#[derive(Clone)]
struct Handle(Arc<LinkCounters<()>>);

impl HoldsCounters for Handle {
    type Reservation = ();

    fn counters(&self) -> &LinkCounters<()> {
        &self.0
    }

    fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

/// A hit was counted in counters that nothing holds any more. The writer writes it and drops the
/// counters while the link is loaded again. In every interleaving, the new counters include the hit.
fn load_during_a_write(reads_round_first: bool) {
    let month = Month::of(AT);
    let table = Arc::new(CounterTable::<Handle>::default());
    let store = Arc::new(AtomicU64::new(0));
    let load = |hits, round| {
        let first = || Handle(Arc::new(LinkCounters::new(LINK, month, hits, None)));
        table.get(LINK, round, Clone::clone, first)
    };
    let first = load(0, table.round()).unwrap();
    assert!(first.counters().quota().take(month, 9).is_some());
    drop(first);
    let writer = {
        let (table, store) = (Arc::clone(&table), Arc::clone(&store));
        thread::spawn(move || {
            store.fetch_add(1, Ordering::AcqRel);
            let hour = Hour::of(AT);
            let written = ClickTotals {
                link: LINK,
                hour,
                others: 0,
                clicks: 1,
                reserved: 0,
                nanos: 1,
                last_at: AT,
            };
            table.written(&[written]);
        })
    };
    let handle = loop {
        let round = table.round();
        let hits = i64::try_from(store.load(Ordering::Acquire)).unwrap();
        let round = if reads_round_first { round } else { table.round() };
        if let Some(handle) = load(hits, round) {
            break handle;
        }
    };
    assert_eq!(handle.counters().quota().used(), (month, 1), "the hit is lost");
    writer.join().unwrap();
}

fn load_with_a_late_round() {
    loom::model(|| load_during_a_write(false));
}

/// The race must end in a panic.
fn finds(race: fn()) {
    std::panic::set_hook(Box::new(|_| {}));
    let found = catch_unwind(race).is_err();
    let _ = std::panic::take_hook();
    assert!(found, "the race was not found");
}

fn main() {
    // The arguments of the test harness: parts of names, and `--list`. Other options are ignored.
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
