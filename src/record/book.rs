//! What becomes of tallies on their way into the store, as a machine without I/O: it says what to
//! write next, and is told how that went.
//!
//! Few links at a time are added to the store's tables at once. Many would cost a statement each,
//! several times a second: they are put into a log, as one row, and added together. Every so
//! often the sums of many rows are cut into parts, each a row of the log again, and part by part is
//! added and removed in one transaction.
//!
//! Invariants: whatever was taken in is in exactly one place: fresh, being sent, logged, or in a
//! part. A write whose fate is unknown is sent again unchanged under the same number, and the
//! store takes a number once.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::link::Tally;
use crate::link::tally::merge;

/// As many tallies as are added to the tables at once, without the log.
const FEW: usize = 2_000;
/// Tallies in a part.
const PART: usize = 2_000;
/// Tallies that may wait in the log, and in memory. More are added at once.
const MOST: usize = 150_000;
/// How long tallies may wait in the log while there is no time for them.
const LONGEST: Duration = Duration::from_secs(30);

/// Something to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Add [`Book::sent`] to the tables.
    Add,
    /// Put [`Book::sent`] into the log.
    Log,
    /// Replace the rows of the log by [`Book::parts`].
    Cut,
    /// Add [`Book::part`] to the tables and remove it from the log.
    Settle,
}

/// Tallies under the number that the log knows them by.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) seq: i64,
    pub(super) tallies: Vec<Tally>,
}

/// The book.
#[derive(Debug, Default)]
pub(super) struct Book {
    fresh: Vec<Tally>,
    /// Whether the last that came in were few.
    calm: bool,
    sending: Option<(Task, Numbered)>,
    logged: Vec<Tally>,
    /// The rows that hold what is logged.
    rows: Vec<i64>,
    logged_since: Option<Timestamp>,
    parts: VecDeque<Numbered>,
    /// The last number.
    seq: i64,
    /// The number under which something was last added without the log. Its row is empty, and is
    /// removed by the next.
    marker: Option<i64>,
    /// Room to merge in.
    spare: Vec<Tally>,
}

impl Book {
    /// Take in tallies, sorted. Nothing is also something: it means that there is time.
    pub(super) fn take_in(&mut self, tallies: &[Tally]) {
        self.calm = tallies.len() <= FEW;
        merge_in(&mut self.fresh, tallies, &mut self.spare);
    }

    /// Whether there is no room for more before something is written.
    pub(super) fn is_full(&self) -> bool {
        self.fresh.len() >= MOST
    }

    /// Tallies that are not in the tables yet.
    pub(super) fn waiting(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.tallies.len()).sum();
        self.fresh.len() + self.sent().tallies.len() + self.logged.len() + parts
    }

    /// What to write next; with `all`, until nothing waits.
    pub(super) fn plan(&mut self, now: Timestamp, all: bool) -> Option<Task> {
        if self.sending.is_none() && !self.fresh.is_empty() {
            let direct = self.fresh.len() <= FEW && self.logged.is_empty() && self.parts.is_empty();
            self.seq += 1;
            let tallies = mem::take(&mut self.fresh);
            let task = if direct { Task::Add } else { Task::Log };
            self.sending = Some((task, Numbered { seq: self.seq, tallies }));
        }
        if let Some((task, _)) = &self.sending {
            return Some(*task);
        }
        if !self.parts.is_empty() {
            return Some(Task::Settle);
        }
        let since = self.logged_since?;
        let due = all || self.calm || self.logged.len() >= MOST || since.plus(LONGEST) <= now;
        due.then_some(Task::Cut)
    }

    /// What is being sent.
    pub(super) fn sent(&self) -> &Numbered {
        const NOTHING: &Numbered = &Numbered { seq: 0, tallies: Vec::new() };
        self.sending.as_ref().map_or(NOTHING, |(_, sent)| sent)
    }

    /// The row that the next write may remove: it only proved that a write was done.
    pub(super) fn marker(&self) -> Option<i64> {
        self.marker
    }

    /// What was sent is in the store.
    pub(super) fn did_send(&mut self, now: Timestamp) -> Vec<Tally> {
        let Some((task, sent)) = self.sending.take() else { return Vec::new() };
        self.marker = None;
        if task == Task::Add {
            self.marker = Some(sent.seq);
            return sent.tallies;
        }
        merge_in(&mut self.logged, &sent.tallies, &mut self.spare);
        self.rows.push(sent.seq);
        self.logged_since.get_or_insert(now);
        Vec::new()
    }

    /// The rows that hold what is logged, and the parts to replace them by. Should that fail, the
    /// next parts have other numbers.
    pub(super) fn cut(&mut self) -> (Vec<i64>, Vec<Numbered>) {
        let numbered = |tallies: &[Tally]| {
            self.seq += 1;
            Numbered { seq: self.seq, tallies: tallies.to_vec() }
        };
        (self.rows.clone(), self.logged.chunks(PART).map(numbered).collect())
    }

    /// The parts have replaced the rows.
    pub(super) fn did_cut(&mut self, parts: Vec<Numbered>) {
        self.drop_logged();
        self.parts = parts.into();
    }

    /// The rows were not there any more: somebody took this process for dead and sees to them. What
    /// they held is theirs.
    pub(super) fn lost_rows(&mut self) -> Vec<Tally> {
        let lost = mem::take(&mut self.logged);
        self.drop_logged();
        lost
    }

    /// The part to settle.
    pub(super) fn part(&self) -> Option<&Numbered> {
        self.parts.front()
    }

    /// It is in the tables: by this process, or by another that took it for dead.
    pub(super) fn did_settle(&mut self) -> Vec<Tally> {
        self.parts.pop_front().map_or_else(Vec::new, |part| part.tallies)
    }

    fn drop_logged(&mut self) {
        self.logged = Vec::new();
        self.spare = Vec::new();
        self.rows.clear();
        self.logged_since = None;
    }
}

fn merge_in(into: &mut Vec<Tally>, more: &[Tally], spare: &mut Vec<Tally>) {
    if more.is_empty() {
        return;
    }
    spare.clear();
    merge(into, more, spare);
    mem::swap(into, spare);
}
