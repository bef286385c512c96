//! What is left of a day when its events are gone: the clicks and visitors of the most frequent values of one
//! dimension, for the workspace and for each link. The same bytes as a column of a block.

use zstd::bulk::Compressor;

use crate::analytics::TextValues;
use crate::analytics::block::{BlockError, ColumnReader, SUMS, sealed};
use crate::analytics::column_format::{PlainReader, write_numbers, write_texts, write_varint};
use crate::link::LinkId;

/// The text of all values of a day that are not among the most frequent ones.
pub const REST: &str = "\u{2}";

/// The link of rows that are about the whole workspace.
pub const WHOLE_WORKSPACE: LinkId = LinkId(0);

const LEVEL: i32 = 3;

/// Sums of one dimension on one day, one per index in every column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaySums {
    /// [`WHOLE_WORKSPACE`], or the link that the row is about.
    pub links: Vec<LinkId>,
    pub values: TextValues,
    pub clicks: Vec<u64>,
    pub visitors: Vec<u64>,
}

impl DaySums {
    pub fn of<'a>(rows: impl IntoIterator<Item = (LinkId, &'a str, u64, u64)>) -> Self {
        let mut sums = Self::default();
        let values = rows.into_iter().map(|(link, value, clicks, visitors)| {
            sums.links.push(link);
            sums.clicks.push(clicks);
            sums.visitors.push(visitors);
            value
        });
        let values = TextValues::of(values);
        Self { values, ..sums }
    }

    /// Link, value, clicks and visitors of each row.
    pub fn rows(&self) -> impl Iterator<Item = (LinkId, &str, u64, u64)> {
        let numbers = self.links.iter().zip(self.clicks.iter().zip(&self.visitors));
        let row = |(row, (link, (clicks, visitors))): (usize, (&LinkId, (&u64, &u64)))| {
            (*link, self.values.get(row), *clicks, *visitors)
        };
        numbers.enumerate().map(row)
    }

    /// At most [`MAX_EVENTS`](crate::analytics::block::MAX_EVENTS) rows.
    pub fn encode(&self) -> Vec<u8> {
        let rows = self.links.len();
        let mut plain = Vec::new();
        let mut part = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            write_varint(u64::try_from(bytes.len()).unwrap_or(u64::MAX), &mut plain);
            plain.extend_from_slice(&bytes);
        };
        let signed = |numbers: &[u64]| -> Vec<i64> {
            numbers.iter().map(|number| i64::try_from(*number).unwrap_or(i64::MAX)).collect()
        };
        let links: Vec<i64> = self.links.iter().map(|link| link.0).collect();
        part(&|out| write_numbers(&links, out));
        part(&|out| {
            write_texts(&self.values, rows, out);
        });
        part(&|out| write_numbers(&signed(&self.clicks), out));
        part(&|out| write_numbers(&signed(&self.visitors), out));
        sealed(SUMS, rows, &plain, Compressor::new(LEVEL).ok().as_mut())
    }

    pub fn decode(data: &[u8]) -> Result<Self, BlockError> {
        let mut buffer = Vec::new();
        let column = ColumnReader::default().open(SUMS, data, &mut buffer)?;
        let rows = column.events;
        let mut reader = column.reader();
        let mut part = || {
            let length = reader.length(data.len().saturating_add(usize::from(u16::MAX) << 8))?;
            reader.take(length)
        };
        let numbers = |plain| -> Result<Vec<i64>, BlockError> {
            let view = PlainReader(plain).numbers(rows)?;
            let mut indexes = Vec::new();
            view.indexes.read_into(&mut indexes);
            let number = |index| view.dictionary.get(usize::from(index)).copied().unwrap_or(0);
            Ok(indexes.into_iter().map(number).collect())
        };
        let unsigned = |numbers: Vec<i64>| -> Vec<u64> {
            numbers.into_iter().map(|number| u64::try_from(number).unwrap_or(0)).collect()
        };
        let links = numbers(part()?)?.into_iter().map(LinkId).collect();
        let texts = part()?;
        let mut values = TextValues::default();
        if !texts.is_empty() {
            let view = PlainReader(texts).texts(rows)?;
            let mut indexes = Vec::new();
            view.indexes.read_into(&mut indexes);
            values.dictionary = view.dictionary.into_iter().map(Box::from).collect();
            values.indexes = indexes.into_iter().map(u32::from).collect();
        }
        let clicks = unsigned(numbers(part()?)?);
        let visitors = unsigned(numbers(part()?)?);
        Ok(Self { links, values, clicks, visitors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_come_back_and_damage_is_noticed() {
        let sums = DaySums::of([
            (WHOLE_WORKSPACE, "DE", 70_000, 61_000),
            (WHOLE_WORKSPACE, REST, 12, 3),
            (LinkId(77), "DE", 5, 5),
        ]);
        let data = sums.encode();
        let decoded = DaySums::decode(&data).unwrap();
        assert_eq!(decoded.rows().collect::<Vec<_>>(), sums.rows().collect::<Vec<_>>());
        for place in 0..data.len() {
            let mut damaged = data.clone();
            damaged[place] ^= 1;
            assert!(DaySums::decode(&damaged).is_err());
        }
        let empty = DaySums::decode(&DaySums::default().encode()).unwrap();
        assert_eq!(empty.rows().count(), 0);
    }
}
