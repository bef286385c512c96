//! The format `RowBinary`: numbers with their lowest byte first, texts after their length.

use crate::clickhouse::http_client::ClickHouseError;
use kurz_core::analytics::{EventBatch, TextColumn};
use kurz_core::code::WorkspaceId;

/// Rows of the table of events, ready to be sent.
#[derive(Debug, Default)]
pub struct EventRows {
    bytes: Vec<u8>,
    events: usize,
}

impl EventRows {
    /// Add the events of a block.
    pub fn add(&mut self, workspace: &WorkspaceId, day: i64, block: i64, batch: &EventBatch) {
        let day = u16::try_from(day).unwrap_or(u16::MAX);
        let columns = batch.links.iter().zip(&batch.times);
        for (event, (link, at)) in columns.enumerate() {
            let number = u32::try_from(event).unwrap_or(u32::MAX);
            self.text(workspace.as_str());
            self.bytes.extend(day.to_le_bytes());
            self.bytes.extend(link.0.to_le_bytes());
            self.bytes.extend(block.to_le_bytes());
            self.bytes.extend(number.to_le_bytes());
            self.bytes.extend(at.as_ms().to_le_bytes());
            let visitor = batch.visitors.get(event).copied().unwrap_or(0);
            self.bytes.extend(visitor.to_le_bytes());
            self.bytes.extend(batch.nanos.get(event).copied().unwrap_or(0).to_le_bytes());
            self.bytes.extend(batch.counts.get(event).copied().unwrap_or(1).to_le_bytes());
            for column in TextColumn::ALL {
                self.text(batch.text(column, event));
            }
        }
        self.events += batch.len();
    }

    fn text(&mut self, text: &str) {
        let mut length = text.len();
        loop {
            let low = u8::try_from(length & 0x7f).unwrap_or(0);
            length >>= 7;
            if length == 0 {
                self.bytes.push(low);
                break;
            }
            self.bytes.push(low | 0x80);
        }
        self.bytes.extend(text.as_bytes());
    }

    pub fn events(&self) -> usize {
        self.events
    }

    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads an answer, value by value.
#[derive(Debug)]
pub(super) struct RowReader<'a>(&'a [u8]);

impl<'a> RowReader<'a> {
    pub(super) fn new(answer: &'a [u8]) -> Self {
        Self(answer)
    }

    /// Read all rows, each by `row`.
    pub(super) fn rows<T>(
        mut self,
        row: impl Fn(&mut Self) -> Result<T, ClickHouseError>,
    ) -> Result<Vec<T>, ClickHouseError> {
        let mut rows = Vec::new();
        while !self.0.is_empty() {
            rows.push(row(&mut self)?);
        }
        Ok(rows)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ClickHouseError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(ClickHouseError::Unreadable)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ClickHouseError> {
        self.take(N)?.try_into().map_err(|_| ClickHouseError::Unreadable)
    }

    pub(super) fn u16(&mut self) -> Result<u16, ClickHouseError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, ClickHouseError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, ClickHouseError> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, ClickHouseError> {
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            let [byte] = self.array()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return Err(ClickHouseError::Unreadable);
            }
        }
        std::str::from_utf8(self.take(length)?).map_err(|_| ClickHouseError::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_read_as_they_were_written() {
        for length in [0, 1, 127, 128, 300, 20_000] {
            let text = "ä".repeat(length);
            let mut rows = EventRows::default();
            rows.text(&text);
            rows.bytes.extend(7_u64.to_le_bytes());
            let read = RowReader::new(&rows.bytes).rows(|row| Ok((row.text()?.len(), row.u64()?)));
            assert_eq!(read.unwrap(), [(text.len(), 7)]);
        }
    }

    #[test]
    fn answers_that_end_early_or_are_no_text_are_refused() {
        let texts = |bytes: &[u8]| RowReader::new(bytes).rows(|row| row.text().map(str::len));
        for bytes in [&[5, 1][..], &[0x80], &[0xff; 9], &[1, 0xff]] {
            assert!(texts(bytes).is_err(), "{bytes:?}");
        }
        assert!(RowReader::new(&[1, 2]).rows(RowReader::u64).is_err());
    }
}
