//! Plans how click totals are written to the store, as a state machine without I/O: it says what to write
//! next, and is told the result.
//!
//! A batch of few links is added to the tables directly. A batch of many would cost a statement for each,
//! several times a second: it is appended to the click log as one row. From time to time the
//! sum of many log rows is split into parts, each again a row of the log, and each part is added to the tables
//! and removed from the log in one transaction.
//!
//! Invariants: totals that were taken in are in exactly one place: fresh, being sent, logged, or in a
//! part. A write whose result is unknown is sent again unchanged in the same turn, and the store accepts
//! each turn once.

use std::mem;
use std::time::Duration;

use crate::clicks::ClickTotals;
use crate::clicks::totals::merge;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug)]
pub struct FlushSizes {
    /// Up to so many totals are added to the tables directly, without the log.
    pub few: usize,
    /// Totals in a part, at least one.
    pub part: usize,
    /// The most totals that may wait in the log, and in memory. Beyond that they are added to the tables.
    pub most: usize,
}

impl Default for FlushSizes {
    fn default() -> Self {
        Self { few: 2_000, part: 1_000, most: 150_000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Add [`FlushPlanner::sent`] to the tables.
    Add,
    /// Put [`FlushPlanner::sent`] into the log.
    Log,
    /// Replace the rows of the log by [`FlushPlanner::parts`].
    Cut,
    /// Add [`FlushPlanner::part`] to the tables and remove it from the log.
    Settle,
}

/// Totals with the number of their log row.
pub type NumberedTotals<'a> = (i64, &'a [ClickTotals]);

/// The state of all totals that are not in the tables yet.
#[derive(Debug, Default)]
pub struct FlushPlanner {
    fresh: Vec<ClickTotals>,
    /// Whether the last batch was small.
    calm: bool,
    sending: Option<(Task, i64, Vec<ClickTotals>)>,
    logged: Vec<ClickTotals>,
    /// The log rows that hold `logged`.
    rows: Vec<i64>,
    logged_since: Option<Timestamp>,
    /// The totals that were cut into parts, and the row number of the first part.
    parts: Vec<ClickTotals>,
    first_part: i64,
    /// How many parts are in the tables.
    settled: usize,
    /// The number of the last log row.
    seq: i64,
    turn: i64,
    /// How long totals may wait in the log while batches are large.
    longest: Duration,
    sizes: FlushSizes,
}

impl FlushPlanner {
    /// An empty planner, whose totals wait in the log for at most `longest`.
    pub fn new(longest: Duration) -> Self {
        Self { longest, ..Self::default() }
    }

    #[must_use]
    pub fn with(self, sizes: FlushSizes) -> Self {
        Self { sizes, ..self }
    }

    /// Take in sorted totals. An empty batch matters too: it means that there is time to empty the log.
    pub fn take_in(&mut self, totals: Vec<ClickTotals>) {
        self.calm = totals.len() <= self.sizes.few;
        merge(&mut self.fresh, totals);
    }

    /// Whether nothing more may be taken in before something is written.
    pub fn is_full(&self) -> bool {
        self.fresh.len() >= self.sizes.most
    }

    /// Number of totals that are not in the tables yet.
    pub fn waiting(&self) -> usize {
        let parts = self.parts.len().saturating_sub(self.settled * self.sizes.part);
        self.fresh.len() + self.sent().map_or(0, |sent| sent.1.len()) + self.logged.len() + parts
    }

    /// What to write next; with `all`, until nothing is left.
    pub fn plan(&mut self, now: Timestamp, all: bool) -> Option<Task> {
        if self.sending.is_none() && !self.fresh.is_empty() {
            let direct = self.fresh.len() <= self.sizes.few
                && self.logged.is_empty()
                && self.parts.is_empty();
            self.seq += 1;
            self.turn += 1;
            let totals = mem::take(&mut self.fresh);
            let task = if direct { Task::Add } else { Task::Log };
            self.sending = Some((task, self.seq, totals));
        }
        if let Some((task, ..)) = &self.sending {
            return Some(*task);
        }
        if !self.parts.is_empty() {
            return Some(Task::Settle);
        }
        let since = self.logged_since?;
        let due = all
            || self.calm
            || self.logged.len() >= self.sizes.most
            || since.plus(self.longest) <= now;
        due.then_some(Task::Cut)
    }

    /// The batch that is being sent.
    pub fn sent(&self) -> Option<NumberedTotals<'_>> {
        self.sending.as_ref().map(|(_, seq, totals)| (*seq, totals.as_slice()))
    }

    /// The turn in which it is sent.
    pub fn turn(&self) -> i64 {
        self.turn
    }

    /// The batch is in the store. Returns the totals that are in the tables by that.
    pub fn did_send(&mut self, now: Timestamp) -> Vec<ClickTotals> {
        let Some((task, seq, sent)) = self.sending.take() else { return Vec::new() };
        if task == Task::Add {
            return sent;
        }
        merge(&mut self.logged, sent);
        self.rows.push(seq);
        self.logged_since.get_or_insert(now);
        Vec::new()
    }

    /// The log rows, and the parts to replace them by. If that fails, the next call gives the parts other
    /// numbers.
    pub fn cut(&mut self) -> (&[i64], impl Iterator<Item = NumberedTotals<'_>>) {
        self.first_part = self.seq + 1;
        let parts = self.logged.chunks(self.sizes.part);
        self.seq += to_i64(parts.len());
        (&self.rows, (self.first_part..).zip(parts))
    }

    /// The parts have replaced the rows.
    pub fn did_cut(&mut self) {
        self.parts = self.take_logged();
        self.settled = 0;
    }

    /// The rows were gone: another process took this one for dead and adds them to the tables. Returns
    /// what they held.
    pub fn lost_rows(&mut self) -> Vec<ClickTotals> {
        self.take_logged()
    }

    /// The next part to add to the tables.
    pub fn part(&self) -> Option<NumberedTotals<'_>> {
        let totals = self.parts.chunks(self.sizes.part).nth(self.settled)?;
        Some((self.first_part + to_i64(self.settled), totals))
    }

    /// The part is in the tables, by this process or by another that took this one for dead.
    pub fn did_settle(&mut self) {
        self.settled += 1;
        if self.settled * self.sizes.part >= self.parts.len() {
            self.parts = Vec::new();
        }
    }

    fn take_logged(&mut self) -> Vec<ClickTotals> {
        self.rows.clear();
        self.logged_since = None;
        mem::take(&mut self.logged)
    }
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
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
    }

    impl FakeStore {
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
    fn step(
        planner: &mut FlushPlanner,
        store: &mut FakeStore,
        result: WriteResult,
        all: bool,
    ) -> bool {
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
            for event in events {
                match event {
                    Event::Clicks(first, count) => {
                        let clicks = clicks(first, count);
                        for totals in &clicks {
                            *expected.entry(totals.link.0).or_default() += 1;
                        }
                        planner.take_in(clicks);
                    }
                    Event::Step(result) => {
                        step(&mut planner, &mut store, result, false);
                    }
                    Event::TakenOver => store.settle_all(),
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
}
