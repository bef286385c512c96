//! The log of clicks that are safe but not yet in the tables, and how they get there.
//!
//! Invariants: a row of the log is added to the tables and removed in one transaction, so its clicks count
//! once, whoever does it and however often it is tried. Each process numbers its writes, and a number is
//! accepted once: a write that is sent again, because its answer was lost, changes nothing.

use std::time::Duration;

use crate::store::clicks::apply::{add, add_to_total};
use crate::store::driver::{Outcome, Step, statements};
use crate::store::locks::{database_now, ms};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};
use kurz_core::clicks::ClickTotals;
use kurz_core::clicks::planner::EncodedEvents;
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;

statements! {
    REGISTER = concat!("insert into click_writers (writer, write_seq, written_at)
        values ($1, $2, ", database_now!("$3"), ") on conflict (writer) do nothing");
    ADVANCE = concat!("update click_writers set write_seq = cast($1 as bigint), written_at = ", database_now!("$2"), "
        where writer = $3 and write_seq = cast($1 as bigint) - 1 returning write_seq");
    WRITE_SEQ = "select write_seq from click_writers where writer = $1";
    /// A write that is sent again is undone as a whole, if it does not fail before.
    LOG = "insert into click_log (writer, seq, totals) values ($1, $2, $3)
        on conflict do nothing";
    UNLOG = "delete from click_log where writer = $1 and seq = $2 returning seq";
    /// Rows of writers that have been silent for a while, a page at a time.
    LEFT = concat!("select writer, seq, totals from click_log
        where (writer, seq) > ($1, $2) and writer not in (select writer from click_writers
            where written_at > ", database_now!("$3"), " - $4)
        order by writer, seq limit 20");
    OWN = "select writer, seq, totals from click_log where writer = $1 and seq > $2
        order by seq limit 20";
    FORGET = concat!("delete from click_writers where written_at <= ", database_now!("$1"), " - $2
        and writer not in (select writer from click_log)");
}

/// What the log's rows begin with, so that another release can tell them apart. Rows of format 1 have no
/// reserved hits.
const FORMAT: u8 = 2;
/// How long a writer is remembered that writes no more.
const REMEMBERED: Duration = Duration::from_hours(30 * 24);

/// The sequence number of a write, by which the store recognises one that is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSeq {
    /// A number that no other process has.
    pub writer: i64,
    /// Grows by one with each write.
    pub number: i64,
}

/// A row of the log, and the totals that it holds.
#[derive(Clone, Copy, Debug)]
pub struct LogRow<'a> {
    pub seq: i64,
    pub totals: &'a [ClickTotals],
}

/// Events that are written with totals, and the number of the first row of the event log that they take.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoggedEvents<'a> {
    pub first: i64,
    pub rows: &'a [EncodedEvents],
}

impl Store {
    /// Register a process that writes clicks.
    pub async fn register_writer(&self, writer: i64, now: Timestamp) -> Result<(), Error> {
        self.db.write(self.register(WriteSeq { writer, number: 0 }, now)).await.map(|_| ())
    }

    /// Add totals to the tables at once, and make their events safe.
    pub async fn add_totals(
        &self,
        seq: WriteSeq,
        totals: &[ClickTotals],
        events: LoggedEvents<'_>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let events = self.log_events(seq.writer, events.first, events.rows, now);
        self.write_once(seq, add(totals).chain(add_to_total(totals)).chain(events), now).await
    }

    /// Make totals and their events safe. They count in the total from here on.
    pub async fn log_totals(
        &self,
        seq: WriteSeq,
        row: LogRow<'_>,
        events: LoggedEvents<'_>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let events = self.log_events(seq.writer, events.first, events.rows, now);
        let log = [log(seq.writer, row)];
        self.write_once(seq, log.into_iter().chain(add_to_total(row.totals)).chain(events), now)
            .await
    }

    /// Replace rows by others that hold the same; `false` when some of them are not there.
    pub async fn replace_logged(
        &self,
        writer: i64,
        rows: &[i64],
        by: impl Iterator<Item = LogRow<'_>>,
    ) -> Result<bool, Error> {
        let mut steps: Vec<Step> = rows.iter().map(|seq| unlog(writer, *seq).or_undo()).collect();
        steps.extend(by.map(|row| log(writer, row)));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Add what a row holds to the tables, and remove it; nothing, if it is not there.
    pub async fn settle_logged(&self, writer: i64, row: LogRow<'_>) -> Result<(), Error> {
        let remove = [unlog(writer, row.seq).or_undo()];
        self.db.batch(remove.into_iter().chain(add(row.totals)).collect()).await.map(|_| ())
    }

    /// Settle all rows of writers that have been silent for `idle`; how many rows
    /// that could be read.
    pub async fn settle_left(&self, idle: Duration, now: Timestamp) -> Result<usize, Error> {
        let mut settled = 0;
        let mut after = (i64::MIN, i64::MIN);
        loop {
            let params = vec![
                SqlValue::Int(after.0),
                SqlValue::Int(after.1),
                self.db.clock_param(now),
                SqlValue::Int(ms(idle)),
            ];
            let rows = self.db.list(LEFT, params).await?;
            let Some((last, readable)) = self.settle_rows(&rows).await? else { break };
            settled += readable;
            after = last;
        }
        let forget = [self.db.clock_param(now), SqlValue::Int(ms(REMEMBERED))];
        self.db.write(Step::new(FORGET, forget)).await?;
        Ok(settled)
    }

    /// Settle all rows of one writer.
    pub async fn settle_own(&self, writer: i64) -> Result<(), Error> {
        let mut after = i64::MIN;
        loop {
            let rows = self.db.list(OWN, vec![SqlValue::Int(writer), SqlValue::Int(after)]).await?;
            let Some(((_, last), _)) = self.settle_rows(&rows).await? else { return Ok(()) };
            after = last;
        }
    }

    /// Settle rows as they were read; writer and number of the last, and how many could be read.
    async fn settle_rows(&self, rows: &[SqlRow]) -> Result<Option<((i64, i64), usize)>, Error> {
        let (mut last, mut readable) = (None, 0);
        for read in rows {
            let (writer, seq) = (read.int(0)?, read.int(1)?);
            last = Some((writer, seq));
            if let Some(totals) = decode(read.blob(2)?) {
                self.settle_logged(writer, LogRow { seq, totals: &totals }).await?;
                readable += 1;
            } else {
                // Left for a release that can read it.
                tracing::error!(writer, seq, "the click log holds a row that cannot be read");
            }
        }
        Ok(last.map(|last| (last, readable)))
    }

    /// Write, unless a write with this number was accepted before.
    async fn write_once(
        &self,
        seq: WriteSeq,
        steps: impl Iterator<Item = Step>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let WriteSeq { writer, number } = seq;
        let params = [SqlValue::Int(number), self.db.clock_param(now), SqlValue::Int(writer)];
        let advance = Step::new(ADVANCE, params).or_undo();
        if let Outcome::Done(_) =
            self.db.batch([advance].into_iter().chain(steps).collect()).await?
        {
            return Ok(());
        }
        match self.db.find(WRITE_SEQ, &[SqlValue::Int(writer)]).await? {
            Some(row) if row.int(0)? >= number => Ok(()),
            _ => {
                // The writer was silent for so long that its row was removed.
                let before = WriteSeq { number: number - 1, ..seq };
                self.db.write(self.register(before, now)).await?;
                Err(Error::Unavailable("the writer was removed after a long silence".to_owned()))
            }
        }
    }

    fn register(&self, seq: WriteSeq, now: Timestamp) -> Step {
        let WriteSeq { writer, number } = seq;
        let params = [SqlValue::Int(writer), SqlValue::Int(number), self.db.clock_param(now)];
        Step::new(REGISTER, params)
    }
}

fn log(writer: i64, row: LogRow<'_>) -> Step {
    let totals = SqlValue::Blob(encode(row.totals).into());
    Step::new(LOG, [SqlValue::Int(writer), SqlValue::Int(row.seq), totals])
}

fn unlog(writer: i64, seq: i64) -> Step {
    Step::new(UNLOG, [SqlValue::Int(writer), SqlValue::Int(seq)])
}

/// Sorted totals as bytes: numbers as differences from the one before, in as many groups of 7
/// bits as they need.
fn encode(totals: &[ClickTotals]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + totals.len() * 12);
    out.push(FORMAT);
    let (mut link, mut last_at) = (0, 0);
    for one in totals {
        put_signed(&mut out, one.link.0.wrapping_sub(link));
        put(&mut out, one.hour.number().into());
        put(&mut out, one.others.into());
        put(&mut out, one.clicks);
        put(&mut out, one.reserved);
        put(&mut out, one.nanos);
        put_signed(&mut out, one.last_at.as_ms().wrapping_sub(last_at));
        (link, last_at) = (one.link.0, one.last_at.as_ms());
    }
    out
}

fn decode(bytes: &[u8]) -> Option<Vec<ClickTotals>> {
    let (&format, mut bytes) = bytes.split_first()?;
    if !(1..=FORMAT).contains(&format) {
        return None;
    }
    let (mut link, mut last_at) = (0_i64, 0_i64);
    let mut totals = Vec::new();
    while !bytes.is_empty() {
        link = link.wrapping_add(take_signed(&mut bytes)?);
        let hour = Hour::from_number(u32::try_from(take(&mut bytes)?).ok()?);
        let others = u32::try_from(take(&mut bytes)?).ok()?;
        let clicks = take(&mut bytes)?;
        let reserved = if format == 1 { 0 } else { take(&mut bytes)? };
        let nanos = take(&mut bytes)?;
        last_at = last_at.wrapping_add(take_signed(&mut bytes)?);
        let at = Timestamp::from_ms(last_at);
        let id = LinkId(link);
        totals.push(ClickTotals { link: id, hour, others, clicks, reserved, nanos, last_at: at });
    }
    Some(totals)
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Small numbers of either sign are short: 0, -1, 1, -2 become 0, 1, 2, 3.
fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take(bytes)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(
            fields in prop::collection::vec(
                (any::<(i64, u32, u32)>(), any::<(u64, u64, u64)>(), any::<i64>()),
                0..20,
            ),
        ) {
            let make = |((link, hour, others), (clicks, reserved, nanos), last)| ClickTotals {
                link: LinkId(link),
                hour: Hour::from_number(hour),
                others,
                clicks,
                reserved,
                nanos,
                last_at: Timestamp::from_ms(last),
            };
            let totals: Vec<ClickTotals> = fields.into_iter().map(make).collect();
            prop_assert_eq!(decode(&encode(&totals)), Some(totals));
        }

        #[test]
        fn no_bytes_are_too_strange_to_look_at(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn another_format_is_not_misread() {
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[FORMAT + 1, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(decode(&[FORMAT, 0, 0, 0]), None);
        let old = decode(&[1, 14, 9, 0, 3, 5, 2]).unwrap();
        assert_eq!((old[0].link, old[0].clicks, old[0].reserved), (LinkId(7), 3, 0));
    }
}
