//! The log of redirects that are safe but not yet in the tables, and how they get there.
//!
//! Invariant: a row of the log is added to the tables and removed in one transaction, so whoever
//! does it, and however often it is tried, its redirects count once. A writer's number is taken
//! once: a write that is sent again, because its fate was not known, changes nothing.

use std::time::Duration;

use crate::clock::Timestamp;
use crate::link::{Hour, LinkId, Tally};
use crate::store::driver::{Outcome, Step, statements};
use crate::store::hits::{add, add_to_total};
use crate::store::locks::{database_now, ms};
use crate::store::value::{Row, Value};
use crate::store::{Error, Store};

statements! {
    LOG = concat!("insert into click_log (writer, seq, written_at, tallies)
        values ($1, $2, ", database_now!("$3"), ", $4)
        on conflict (writer, seq) do nothing returning seq");
    UNLOG = "delete from click_log where writer = $1 and seq = $2 returning seq";
    /// Rows of writers that have been silent for a while, a page at a time.
    LEFT = concat!("select writer, seq, tallies from click_log
        where (writer, seq) > ($1, $2) and writer in (select writer from click_log
            group by writer having max(written_at) <= ", database_now!("$3"), " - $4)
        order by writer, seq limit 20");
    OWN = "select writer, seq, tallies from click_log where writer = $1 and seq > $2
        order by seq limit 20";
}

/// What the log's rows begin with, so that another release can tell them apart.
const FORMAT: u8 = 1;

/// A row of the log: who wrote it, and its number with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// A number that no other process has.
    pub writer: i64,
    /// Grows with each row.
    pub seq: i64,
}

/// Tallies that a row of the log holds.
#[derive(Clone, Copy, Debug)]
pub struct LogPart<'a> {
    /// The row.
    pub row: LogRow,
    /// What it holds.
    pub tallies: &'a [Tally],
}

impl Store {
    /// Add tallies to the tables at once. An empty row of the log proves that it was done, and
    /// the proof of the last time is removed.
    pub async fn add_tallies(
        &self,
        part: LogPart<'_>,
        proof: Option<LogRow>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut steps = vec![self.log(part.row, &[], now)];
        steps.extend(add(part.tallies));
        steps.extend(add_to_total(part.tallies));
        steps.extend(proof.map(unlog));
        // Undone: the number is taken, so this was done before.
        self.db.batch(steps).await.map(|_| ())
    }

    /// Make tallies safe. They count in the total from here on.
    pub async fn log_tallies(
        &self,
        part: LogPart<'_>,
        proof: Option<LogRow>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut steps = vec![self.log(part.row, part.tallies, now)];
        steps.extend(add_to_total(part.tallies));
        steps.extend(proof.map(unlog));
        self.db.batch(steps).await.map(|_| ())
    }

    /// Replace rows by others that hold the same; `false` when some of them are not there.
    pub async fn replace_logged(
        &self,
        rows: &[LogRow],
        by: &[LogPart<'_>],
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut steps: Vec<Step> = rows.iter().map(|row| unlog(*row).or_undo()).collect();
        steps.extend(by.iter().map(|part| self.log(part.row, part.tallies, now)));
        Ok(matches!(self.db.batch(steps).await?, Outcome::Done(_)))
    }

    /// Add what a row holds to the tables, and remove it; nothing, if it is not there.
    pub async fn settle_logged(&self, part: LogPart<'_>) -> Result<(), Error> {
        let steps = [unlog(part.row).or_undo()].into_iter().chain(add(part.tallies));
        self.db.batch(steps.collect()).await.map(|_| ())
    }

    /// Settle all rows of writers that have been silent for `idle`; how many rows.
    pub async fn settle_left(&self, idle: Duration, now: Timestamp) -> Result<usize, Error> {
        let mut settled = 0;
        let mut after = LogRow { writer: i64::MIN, seq: i64::MIN };
        loop {
            let params = vec![
                Value::Int(after.writer),
                Value::Int(after.seq),
                self.db.clock_param(now),
                Value::Int(ms(idle)),
            ];
            let rows = self.db.list(LEFT, params).await?;
            let Some(last) = self.settle_rows(&rows).await? else { return Ok(settled) };
            settled += rows.len();
            after = last;
        }
    }

    /// Settle all rows of one writer.
    pub async fn settle_own(&self, writer: i64) -> Result<(), Error> {
        let mut after = LogRow { writer, seq: i64::MIN };
        loop {
            let params = vec![Value::Int(writer), Value::Int(after.seq)];
            let rows = self.db.list(OWN, params).await?;
            let Some(last) = self.settle_rows(&rows).await? else { return Ok(()) };
            after = last;
        }
    }

    /// Settle rows as they were read; the last of them.
    async fn settle_rows(&self, rows: &[Row]) -> Result<Option<LogRow>, Error> {
        let mut last = None;
        for read in rows {
            let row = LogRow { writer: read.int(0)?, seq: read.int(1)? };
            last = Some(row);
            if let Some(tallies) = decode(read.blob(2)?) {
                self.settle_logged(LogPart { row, tallies: &tallies }).await?;
            } else {
                // Left for whoever can read it.
                tracing::error!(?row, "the click log holds a row that cannot be read");
            }
        }
        Ok(last)
    }

    fn log(&self, row: LogRow, tallies: &[Tally], now: Timestamp) -> Step {
        let encoded = encode(tallies);
        let params = [
            Value::Int(row.writer),
            Value::Int(row.seq),
            self.db.clock_param(now),
            Value::Blob(encoded.into()),
        ];
        Step::new(LOG, params).or_undo()
    }
}

fn unlog(row: LogRow) -> Step {
    Step::new(UNLOG, [Value::Int(row.writer), Value::Int(row.seq)])
}

/// Sorted tallies as bytes: numbers as differences from the tally before, in as many groups of 7
/// bits as they need.
fn encode(tallies: &[Tally]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + tallies.len() * 12);
    out.push(FORMAT);
    let (mut link, mut last_at) = (0, 0);
    for tally in tallies {
        put_signed(&mut out, tally.link.0.wrapping_sub(link));
        put(&mut out, tally.hour.number().into());
        put(&mut out, tally.others.into());
        put(&mut out, tally.visits);
        put(&mut out, tally.nanos);
        put_signed(&mut out, tally.last_at.as_ms().wrapping_sub(last_at));
        (link, last_at) = (tally.link.0, tally.last_at.as_ms());
    }
    out
}

fn decode(bytes: &[u8]) -> Option<Vec<Tally>> {
    let (&FORMAT, mut bytes) = bytes.split_first()? else { return None };
    let (mut link, mut last_at) = (0_i64, 0_i64);
    let mut tallies = Vec::new();
    while !bytes.is_empty() {
        link = link.wrapping_add(take_signed(&mut bytes)?);
        let hour = Hour::from_number(u32::try_from(take(&mut bytes)?).ok()?);
        let others = u32::try_from(take(&mut bytes)?).ok()?;
        let visits = take(&mut bytes)?;
        let nanos = take(&mut bytes)?;
        last_at = last_at.wrapping_add(take_signed(&mut bytes)?);
        let last_at = Timestamp::from_ms(last_at);
        tallies.push(Tally { link: LinkId(link), hour, others, visits, nanos, last_at });
    }
    Some(tallies)
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
                (any::<i64>(), any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>(), any::<i64>()),
                0..20,
            ),
        ) {
            let tally = |(link, hour, others, visits, nanos, last)| Tally {
                link: LinkId(link),
                hour: Hour::from_number(hour),
                others,
                visits,
                nanos,
                last_at: Timestamp::from_ms(last),
            };
            let tallies: Vec<Tally> = fields.into_iter().map(tally).collect();
            prop_assert_eq!(decode(&encode(&tallies)), Some(tallies));
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
    }
}
