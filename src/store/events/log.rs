//! The log of events that are safe but not yet in a block.
//!
//! Invariants: a row is written in the transaction that counts its clicks. It becomes blocks and is removed
//! in one transaction, so its events are stored once, whoever does it and however often it is tried.

use std::time::Duration;

use crate::store::driver::{Outcome, Step, statements};
use crate::store::events::blocks::{NewEventBlock, insert_steps};
use crate::store::locks::{database_now, ms};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::clicks::planner::EncodedEvents;
use kurz_core::time::Timestamp;

statements! {
    /// A write that is sent again is undone as a whole, if it does not fail before.
    INSERT = concat!("insert into event_log (writer, seq, events, data, written_at)
        values ($1, $2, $3, $4, ", database_now!("$5"), ") on conflict do nothing");
    LIST = "select writer, seq, events, data from event_log order by writer, seq limit $1";
    KEYS = "select writer, seq from event_log order by writer, seq limit $1";
    OWN = "select writer, seq, events, data from event_log where writer = $1 and seq > $2
        order by seq limit $3";
    /// Rows that their writer should have cut by now: it ended, or cannot.
    LEFT = concat!("select writer, seq, events, data from event_log
        where (writer, seq) > ($1, $2) and written_at <= ", database_now!("$3"), " - $4
        order by writer, seq limit $5");
    REMOVE = "delete from event_log where writer = $1 and seq = $2 returning seq";
}

/// The most rows of the log that a query reads: each writer has a few hundred at most.
const MOST_ROWS: i64 = 20_000;

/// A row of the event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogRow {
    pub writer: i64,
    pub seq: i64,
    /// How many events it holds.
    pub events: i64,
    pub data: Vec<u8>,
}

impl Store {
    /// All rows that wait to become blocks, of all writers.
    pub async fn list_event_log(&self) -> Result<Vec<EventLogRow>, Error> {
        let rows = self.db.list(LIST, vec![SqlValue::Int(MOST_ROWS)]).await?;
        rows.iter().map(read).collect()
    }

    /// Writer and number of all rows that wait to become blocks.
    pub async fn list_event_log_keys(&self) -> Result<Vec<(i64, i64)>, Error> {
        let rows = self.db.list(KEYS, vec![SqlValue::Int(MOST_ROWS)]).await?;
        rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
    }

    /// Rows of one writer with numbers after `after`.
    pub async fn list_own_events(
        &self,
        writer: i64,
        after: i64,
        most: i64,
    ) -> Result<Vec<EventLogRow>, Error> {
        let params = vec![SqlValue::Int(writer), SqlValue::Int(after), SqlValue::Int(most)];
        self.db.list(OWN, params).await?.iter().map(read).collect()
    }

    /// Rows that were written at least `age` ago, after the row `after`.
    pub async fn list_left_events(
        &self,
        after: (i64, i64),
        age: Duration,
        most: i64,
        now: Timestamp,
    ) -> Result<Vec<EventLogRow>, Error> {
        let params = vec![
            SqlValue::Int(after.0),
            SqlValue::Int(after.1),
            self.db.clock_param(now),
            SqlValue::Int(ms(age)),
            SqlValue::Int(most),
        ];
        self.db.list(LEFT, params).await?.iter().map(read).collect()
    }

    /// Replace rows of the log by blocks; `false` when some of the rows are not there.
    pub async fn cut_events(
        &self,
        rows: &[EventLogRow],
        blocks: Vec<NewEventBlock>,
    ) -> Result<bool, Error> {
        let mut steps: Vec<Step> = rows
            .iter()
            .map(|row| {
                let params = [SqlValue::Int(row.writer), SqlValue::Int(row.seq)];
                Step::new(REMOVE, params).or_undo()
            })
            .collect();
        steps.extend(blocks.into_iter().flat_map(insert_steps));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// The steps that write event rows, numbered from `first` on.
    pub(in crate::store) fn log_events(
        &self,
        writer: i64,
        first: i64,
        rows: &[EncodedEvents],
        now: Timestamp,
    ) -> Vec<Step> {
        let numbered = (first..).zip(rows);
        let step = |(seq, row): (i64, &EncodedEvents)| {
            let params = [
                SqlValue::Int(writer),
                SqlValue::Int(seq),
                SqlValue::Int(row.events.into()),
                SqlValue::blob(&row.data),
                self.db.clock_param(now),
            ];
            Step::new(INSERT, params)
        };
        numbered.map(step).collect()
    }
}

fn read(row: &SqlRow) -> Result<EventLogRow, Error> {
    Ok(EventLogRow {
        writer: row.int(0)?,
        seq: row.int(1)?,
        events: row.int(2)?,
        data: row.blob(3)?.to_vec(),
    })
}
