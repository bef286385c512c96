//! What becomes of totals on their way into the store, as a machine without I/O: it says what to
//! write next, and is told how that went.
//!
//! Few links at a time are added to the store's tables at once. Many would cost a statement each,
//! several times a second: they are put into a log, as one row, and added together. Every so
//! often the sums of many rows are cut into parts, each a row of the log again, and part by part is
//! added and removed in one transaction.
//!
//! Invariants: whatever was taken in is in exactly one place: fresh, being sent, logged, or in a
//! part. A write whose fate is unknown is sent again unchanged in the same turn, and the store lets
//! a turn be taken once.

use std::mem;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::link::ClickTotals;
use crate::link::click_totals::merge;

/// How much is much.
#[derive(Clone, Copy, Debug)]
pub struct FlushSizes {
    /// As many totals as are added to the tables at once, without the log.
    pub few: usize,
    /// Tallies in a part, at least one.
    pub part: usize,
    /// Tallies that may wait in the log, and in memory. More are added at once.
    pub most: usize,
}

impl Default for FlushSizes {
    fn default() -> Self {
        Self { few: 2_000, part: 1_000, most: 150_000 }
    }
}

/// Something to write.
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

/// Tallies, and the number that the log knows them by.
pub type NumberedTotals<'a> = (i64, &'a [ClickTotals]);

/// The planner.
#[derive(Debug, Default)]
pub struct FlushPlanner {
    fresh: Vec<ClickTotals>,
    /// Whether the last that came in were few.
    calm: bool,
    sending: Option<(Task, i64, Vec<ClickTotals>)>,
    logged: Vec<ClickTotals>,
    /// The rows that hold what is logged.
    rows: Vec<i64>,
    logged_since: Option<Timestamp>,
    /// What was cut into parts, and the number of the first.
    parts: Vec<ClickTotals>,
    first_part: i64,
    /// How many of them are settled.
    settled: usize,
    /// The last number of a row.
    seq: i64,
    /// How many times something was sent.
    turn: i64,
    /// How long totals may wait in the log while there is no time for them.
    longest: Duration,
    sizes: FlushSizes,
}

impl FlushPlanner {
    /// An empty one, whose totals wait in the log for at most `longest`.
    pub fn new(longest: Duration) -> Self {
        Self { longest, ..Self::default() }
    }

    /// The same with other sizes.
    #[must_use]
    pub fn with(self, sizes: FlushSizes) -> Self {
        Self { sizes, ..self }
    }

    /// Take in totals, sorted. Nothing is also something: it means that there is time.
    pub fn take_in(&mut self, totals: Vec<ClickTotals>) {
        self.calm = totals.len() <= self.sizes.few;
        merge(&mut self.fresh, totals);
    }

    /// Whether there is no room for more before something is written.
    pub fn is_full(&self) -> bool {
        self.fresh.len() >= self.sizes.most
    }

    /// Tallies that are not in the tables yet.
    pub fn waiting(&self) -> usize {
        let parts = self.parts.len().saturating_sub(self.settled * self.sizes.part);
        self.fresh.len() + self.sent().map_or(0, |sent| sent.1.len()) + self.logged.len() + parts
    }

    /// What to write next; with `all`, until nothing waits.
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

    /// What is being sent.
    pub fn sent(&self) -> Option<NumberedTotals<'_>> {
        self.sending.as_ref().map(|(_, seq, totals)| (*seq, totals.as_slice()))
    }

    /// The turn in which it is sent.
    pub fn turn(&self) -> i64 {
        self.turn
    }

    /// What was sent is in the store. Gives what is in its tables.
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

    /// The rows that hold what is logged, and the parts to replace them by. Should that fail, the
    /// next parts have other numbers.
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

    /// The rows were not there any more: somebody took this process for dead and sees to them. What
    /// they held is theirs.
    pub fn lost_rows(&mut self) -> Vec<ClickTotals> {
        self.take_logged()
    }

    /// The part to settle.
    pub fn part(&self) -> Option<NumberedTotals<'_>> {
        let totals = self.parts.chunks(self.sizes.part).nth(self.settled)?;
        Some((self.first_part + to_i64(self.settled), totals))
    }

    /// It is in the tables: by this process, or by another that took it for dead.
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

    /// What a store makes of the tasks: sums in tables, rows in a log, numbers that are taken once.
    #[derive(Default)]
    struct Shelf {
        tables: BTreeMap<i64, u64>,
        log: BTreeMap<i64, Vec<ClickTotals>>,
        turn: i64,
    }

    impl Shelf {
        fn add(&mut self, totals: &[ClickTotals]) {
            for totals in totals {
                *self.tables.entry(totals.link.0).or_default() += totals.visits;
            }
        }

        fn log(&mut self, (seq, totals): NumberedTotals<'_>) {
            assert!(self.log.insert(seq, totals.to_vec()).is_none(), "a number was given twice");
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
    enum Fate {
        Done,
        /// The store did not get it.
        Refused,
        /// The store did it, and the answer got lost.
        Unheard,
    }

    /// One step of the recorder, with a store that may fail.
    fn step(planner: &mut FlushPlanner, shelf: &mut Shelf, fate: Fate, all: bool) -> bool {
        let now = Timestamp::from_ms(0);
        let Some(task) = planner.plan(now, all) else { return false };
        if matches!(fate, Fate::Refused) {
            return true;
        }
        let heard = matches!(fate, Fate::Done);
        match task {
            Task::Add | Task::Log => {
                let sent = planner.sent().unwrap();
                if shelf.turn + 1 == planner.turn() {
                    shelf.turn += 1;
                    match task {
                        Task::Add => shelf.add(sent.1),
                        _ => shelf.log(sent),
                    }
                }
                if heard {
                    planner.did_send(now);
                }
            }
            Task::Cut => {
                let (rows, parts) = planner.cut();
                let all_there = rows.iter().all(|seq| shelf.log.contains_key(seq));
                let parts: Vec<NumberedTotals<'_>> = parts.collect();
                if all_there {
                    for seq in rows {
                        shelf.log.remove(seq);
                    }
                    for part in parts {
                        shelf.log(part);
                    }
                }
                match (heard, all_there) {
                    (true, true) => planner.did_cut(),
                    (true, false) => {
                        shelf.settle_all();
                        planner.lost_rows();
                    }
                    (false, _) => {}
                }
            }
            Task::Settle => {
                shelf.settle(planner.part().unwrap().0);
                if heard {
                    planner.did_settle();
                }
            }
        }
        true
    }

    #[derive(Clone, Debug)]
    enum Event {
        Clicks(i64, usize),
        Step(Fate),
        /// Another process takes this one for dead.
        Robbed,
    }

    fn any_event() -> impl Strategy<Value = Event> {
        prop_oneof![
            2 => (0..3000i64, prop_oneof![1..50usize, 1900..5000usize])
                .prop_map(|(first, count)| Event::Clicks(first, count)),
            6 => prop_oneof![Just(Fate::Done), Just(Fate::Refused), Just(Fate::Unheard)]
                .prop_map(Event::Step),
            1 => Just(Event::Robbed),
        ]
    }

    fn clicks(first: i64, count: usize) -> Vec<ClickTotals> {
        let totals = |link| ClickTotals {
            link: LinkId(link),
            hour: Hour::from_number(1),
            others: 0,
            visits: 1,
            nanos: 1,
            last_at: Timestamp::from_ms(1),
        };
        (first..).take(count).map(totals).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn every_visit_counts_once_whatever_fails(
            events in prop::collection::vec(any_event(), 1..40),
        ) {
            let (mut planner, mut shelf) = (FlushPlanner::new(LONGEST), Shelf::default());
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
                    Event::Step(fate) => {
                        step(&mut planner, &mut shelf, fate, false);
                    }
                    Event::Robbed => shelf.settle_all(),
                }
                let known: u64 = shelf.tables.values().sum();
                prop_assert!(known <= expected.values().sum(), "counted twice");
            }
            let mut steps = 0;
            while step(&mut planner, &mut shelf, Fate::Done, true) {
                steps += 1;
                prop_assert!(steps < 1000, "never ends");
            }
            prop_assert_eq!(planner.waiting(), 0);
            shelf.settle_all();
            prop_assert_eq!(shelf.tables, expected);
        }
    }

    #[test]
    fn many_wait_in_the_log_until_there_is_time() {
        let (mut planner, mut shelf) = (FlushPlanner::new(LONGEST), Shelf::default());
        planner.take_in(clicks(0, FEW));
        assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Add));
        step(&mut planner, &mut shelf, Fate::Done, false);
        for _ in 0..3 {
            planner.take_in(clicks(0, FEW + 1));
            assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Log));
            step(&mut planner, &mut shelf, Fate::Done, false);
        }
        assert_eq!(planner.plan(Timestamp::from_ms(0), false), None);
        assert_eq!((planner.waiting(), shelf.log.len()), (FEW + 1, 3));
        let late = Timestamp::from_ms(0).plus(LONGEST);
        assert_eq!(planner.plan(late, false), Some(Task::Cut));
        planner.take_in(Vec::new());
        assert_eq!(planner.plan(Timestamp::from_ms(0), false), Some(Task::Cut));
        while step(&mut planner, &mut shelf, Fate::Done, false) {}
        assert_eq!((planner.waiting(), shelf.log.len()), (0, 0));
        assert_eq!(shelf.tables[&0], 4);
    }
}
