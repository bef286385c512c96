//! Plans how click totals and events are written to the store, as a state machine without I/O: it says what
//! to write next, and is told the result.
//!
//! A batch of few links is added to the tables directly. A batch of many would cost a statement for each,
//! several times a second: it is appended to the click log as one row. From time to time the
//! sum of many log rows is split into parts, each again a row of the log, and each part is added to the tables
//! and removed from the log in one transaction.
//!
//! The events of a batch go into the event log in the write that makes its totals safe.
//!
//! Invariants: totals that were taken in are in exactly one place: fresh, being sent, logged, or in a
//! part. A write whose result is unknown is sent again unchanged in the same turn, and the store accepts
//! each turn once. Only details may be taken out of it, where the store has no room for them: the totals of
//! the turn stay the same.

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

/// Events of one batch, encoded as a row of the event log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedEvents {
    /// How many events it holds.
    pub events: u32,
    pub data: Vec<u8>,
}

/// What is known of the clicks of a batch beyond their totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchDetails {
    pub rows: Vec<EncodedEvents>,
    /// Clicks whose details were dropped, sorted: only their number becomes events.
    pub counted: Vec<ClickTotals>,
}

impl BatchDetails {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.counted.is_empty()
    }

    fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.data.len()).sum()
    }

    /// Rows of the event log that it takes.
    fn log_rows(&self) -> usize {
        self.rows.len() + self.counted.len().div_ceil(COUNTED_PER_ROW)
    }

    /// Events that it holds.
    fn events(&self) -> u64 {
        self.rows.iter().map(|row| u64::from(row.events)).sum()
    }
}

/// Totals of clicks without details in one row of the event log: each becomes two events at most, and a row
/// holds 65,536.
pub const COUNTED_PER_ROW: usize = 32_768;

/// The most bytes of encoded events that wait to be written. Clicks beyond that are counted without details.
const MOST_EVENT_BYTES: usize = 8 << 20;

/// Totals with the number of their log row.
pub type NumberedTotals<'a> = (i64, &'a [ClickTotals]);

/// The state of all totals that are not in the tables yet.
#[derive(Debug, Default)]
pub struct FlushPlanner {
    fresh: Vec<ClickTotals>,
    /// Whether the last batch was small.
    calm: bool,
    fresh_details: BatchDetails,
    sending: Option<(Task, i64, Vec<ClickTotals>)>,
    /// The details that are sent with the totals, and the number of their first row in the event log.
    sending_details: BatchDetails,
    first_event_row: i64,
    /// The number of the last row of the event log.
    event_seq: i64,
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

    /// Take in what is known of clicks beyond their totals, which were taken in just before.
    pub fn take_in_details(&mut self, details: BatchDetails) {
        self.fresh_details.rows.extend(details.rows);
        merge(&mut self.fresh_details.counted, details.counted);
    }

    /// Whether there is room for the details of another batch.
    pub fn has_room_for_details(&self) -> bool {
        self.fresh_details.bytes() + self.sending_details.bytes() < MOST_EVENT_BYTES
    }

    /// Drop all details that are not written yet; how many events they were.
    pub fn drop_details(&mut self) -> u64 {
        let dropped = [mem::take(&mut self.fresh_details), mem::take(&mut self.sending_details)];
        dropped.iter().map(BatchDetails::events).sum()
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
        if self.sending.is_none() && !(self.fresh.is_empty() && self.fresh_details.is_empty()) {
            let direct = self.fresh.len() <= self.sizes.few
                && self.logged.is_empty()
                && self.parts.is_empty();
            self.seq += 1;
            self.turn += 1;
            let totals = mem::take(&mut self.fresh);
            let task = if direct { Task::Add } else { Task::Log };
            self.sending = Some((task, self.seq, totals));
            self.sending_details = mem::take(&mut self.fresh_details);
            self.first_event_row = self.event_seq + 1;
            self.event_seq += to_i64(self.sending_details.log_rows());
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

    /// The details of the batch that is being sent, and the number of their first row in the event log.
    pub fn sent_details(&self) -> (i64, &BatchDetails) {
        (self.first_event_row, &self.sending_details)
    }

    /// The turn in which it is sent.
    pub fn turn(&self) -> i64 {
        self.turn
    }

    /// The batch is in the store. Returns the totals that are in the tables by that.
    pub fn did_send(&mut self, now: Timestamp) -> Vec<ClickTotals> {
        let Some((task, seq, sent)) = self.sending.take() else { return Vec::new() };
        self.sending_details = BatchDetails::default();
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
mod tests;
