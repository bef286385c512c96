//! The planner with a store that fails in every way.

use super::*;
use crate::link::{Hour, LinkId};
use proptest::prelude::*;
use std::collections::BTreeMap;

const LONGEST: Duration = Duration::from_secs(30);
const FEW: usize = 2_000;

/// A store: sums in tables, rows in a log, turns that are accepted once.
#[derive(Default)]
struct FakeStore {
    tables: BTreeMap<i64, u64>,
    log: BTreeMap<i64, Vec<ClickTotals>>,
    turn: i64,
    /// The event log: what each row holds.
    events: BTreeMap<i64, Vec<u8>>,
    counted: u64,
}

impl FakeStore {
    fn log_events(&mut self, (first, details): (i64, &BatchDetails)) {
        for (seq, row) in (first..).zip(&details.rows) {
            assert!(
                self.events.insert(seq, row.data.clone()).is_none(),
                "an event row number was used twice"
            );
        }
        self.counted += details.counted.iter().map(|totals| totals.clicks).sum::<u64>();
    }

    fn add(&mut self, totals: &[ClickTotals]) {
        for totals in totals {
            *self.tables.entry(totals.link.0).or_default() += totals.clicks;
        }
    }

    fn log(&mut self, (seq, totals): NumberedTotals<'_>) {
        assert!(self.log.insert(seq, totals.to_vec()).is_none(), "a row number was used twice");
    }

    fn settle(&mut self, seq: i64) {
        if let Some(totals) = self.log.remove(&seq) {
            self.add(&totals);
        }
    }

    fn settle_all(&mut self) {
        for seq in self.log.keys().copied().collect::<Vec<_>>() {
            self.settle(seq);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum WriteResult {
    Done,
    /// The store did not write.
    Failed,
    /// The store wrote, but the result was lost.
    Unknown,
}

/// One step of the click writer, with a store that may fail.
fn step(planner: &mut FlushPlanner, store: &mut FakeStore, result: WriteResult, all: bool) -> bool {
    let now = Timestamp::from_ms(0);
    let Some(task) = planner.plan(now, all) else { return false };
    if matches!(result, WriteResult::Failed) {
        return true;
    }
    let is_known = matches!(result, WriteResult::Done);
    match task {
        Task::Add | Task::Log => {
            let sent = planner.sent().unwrap();
            if store.turn + 1 == planner.turn() {
                store.turn += 1;
                store.log_events(planner.sent_details());
                match task {
                    Task::Add => store.add(sent.1),
                    _ => store.log(sent),
                }
            }
            if is_known {
                planner.did_send(now);
            }
        }
        Task::Cut => {
            let (rows, parts) = planner.cut();
            let all_there = rows.iter().all(|seq| store.log.contains_key(seq));
            let parts: Vec<NumberedTotals<'_>> = parts.collect();
            if all_there {
                for seq in rows {
                    store.log.remove(seq);
                }
                for part in parts {
                    store.log(part);
                }
            }
            match (is_known, all_there) {
                (true, true) => planner.did_cut(),
                (true, false) => {
                    store.settle_all();
                    planner.lost_rows();
                }
                (false, _) => {}
            }
        }
        Task::Settle => {
            store.settle(planner.part().unwrap().0);
            if is_known {
                planner.did_settle();
            }
        }
    }
    true
}

#[derive(Clone, Debug)]
enum Event {
    Clicks(i64, usize),
    /// Requests that were refused: events without totals.
    Refused,
    /// The store has no room: details that wait are dropped.
    DropDetails,
    Step(WriteResult),
    /// Another process takes this one for dead and applies its log rows.
    TakenOver,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..3000i64, prop_oneof![1..50usize, 1900..5000usize])
            .prop_map(|(first, count)| Event::Clicks(first, count)),
        6 => prop_oneof![Just(WriteResult::Done), Just(WriteResult::Failed), Just(WriteResult::Unknown)]
            .prop_map(Event::Step),
        1 => Just(Event::TakenOver),
        1 => Just(Event::Refused),
        1 => Just(Event::DropDetails),
    ]
}

fn clicks(first: i64, count: usize) -> Vec<ClickTotals> {
    let totals = |link| ClickTotals {
        link: LinkId(link),
        hour: Hour::from_number(1),
        others: 0,
        clicks: 1,
        reserved: 0,
        nanos: 1,
        last_at: Timestamp::from_ms(1),
    };
    (first..).take(count).map(totals).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_click_counts_once_whatever_fails(
        events in prop::collection::vec(any_event(), 1..40),
    ) {
        let (mut planner, mut store) = (FlushPlanner::new(LONGEST), FakeStore::default());
        let mut expected: BTreeMap<i64, u64> = BTreeMap::new();
        let (mut batches, mut dropped, mut counted) = (0_u32, 0, 0);
        // Each batch has one event, by which it is known.
        let mut next_details = || {
            batches += 1;
            let row = EncodedEvents { events: 1, data: batches.to_be_bytes().to_vec() };
            BatchDetails { rows: vec![row], counted: Vec::new() }
        };
        let mut taken = 0;
        for event in events {
            match event {
                Event::Clicks(first, count) => {
                    let clicks = clicks(first, count);
                    for totals in &clicks {
                        *expected.entry(totals.link.0).or_default() += 1;
                    }
                    taken += 1;
                    let mut details = next_details();
                    if first % 2 == 0 {
                        counted += 1;
                        details.counted = clicks.first().copied().into_iter().collect();
                    }
                    planner.take_in(clicks);
                    planner.take_in_details(details);
                }
                Event::Step(result) => {
                    step(&mut planner, &mut store, result, false);
                }
                Event::TakenOver => store.settle_all(),
                Event::Refused => {
                    taken += 1;
                    planner.take_in_details(next_details());
                }
                Event::DropDetails => dropped += planner.drop_details(),
            }
            let known: u64 = store.tables.values().sum();
            prop_assert!(known <= expected.values().sum(), "counted twice");
        }
        let mut steps = 0;
        while step(&mut planner, &mut store, WriteResult::Done, true) {
            steps += 1;
            prop_assert!(steps < 1000, "it never ends");
        }
        prop_assert_eq!(planner.waiting(), 0);
        store.settle_all();
        prop_assert_eq!(store.tables, expected);
        let mut events: Vec<&Vec<u8>> = store.events.values().collect();
        let stored = u64::try_from(events.len()).unwrap();
        events.sort_unstable();
        events.dedup();
        prop_assert_eq!(u64::try_from(events.len()).unwrap(), stored, "an event was stored twice");
        // One whose result was lost is stored, and was dropped from the retry.
        prop_assert!(stored <= taken && stored + dropped >= taken, "{stored} of {taken}, {dropped}");
        prop_assert!(store.counted <= counted);
        if dropped == 0 {
            prop_assert_eq!((stored, store.counted), (taken, counted));
        }
    }
}

#[test]
fn large_batches_wait_in_the_log_until_there_is_time() {
    let (mut planner, mut store) = (FlushPlanner::new(LONGEST), FakeStore::default());
    planner.take_in(clicks(0, FEW));
    assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Add));
    step(&mut planner, &mut store, WriteResult::Done, false);
    for _ in 0..3 {
        planner.take_in(clicks(0, FEW + 1));
        assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Log));
        step(&mut planner, &mut store, WriteResult::Done, false);
    }
    assert_eq!(planner.plan(Timestamp::from_ms(0), false), None);
    assert_eq!((planner.waiting(), store.log.len()), (FEW + 1, 3));
    let late = Timestamp::from_ms(0).plus(LONGEST);
    assert_eq!(planner.plan(late, false), Some(Task::Cut));
    planner.take_in(Vec::new());
    assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Cut));
    while step(&mut planner, &mut store, WriteResult::Done, false) {}
    assert_eq!((planner.waiting(), store.log.len()), (0, 0));
    assert_eq!(store.tables[&0], 4);
}

#[test]
fn details_that_wait_are_bounded_and_leave_with_their_batch() {
    let mut planner = FlushPlanner::new(LONGEST);
    let row = EncodedEvents { events: 5, data: vec![0; MOST_EVENT_BYTES / 2] };
    let details = || BatchDetails { rows: vec![row.clone()], counted: Vec::new() };
    planner.take_in(clicks(0, 1));
    planner.take_in_details(details());
    assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Add));
    assert!(planner.has_room_for_details());
    planner.take_in(clicks(0, 1));
    planner.take_in_details(details());
    assert!(!planner.has_room_for_details());
    assert_eq!(planner.sent_details(), (1, &details()));
    planner.did_send(Timestamp::from_ms(0));
    assert!(planner.has_room_for_details());
    assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Add));
    assert_eq!(planner.sent_details().0, 2);
    assert_eq!((planner.drop_details(), planner.drop_details()), (5, 0));
    assert_eq!(planner.sent().unwrap().1.len(), 1, "the totals stay");
    assert!(planner.sent_details().1.is_empty());
}
