//! The formats of a column of events before it is compressed: a dictionary and indexes into it, or numbers as
//! byte planes (all lowest bytes, then all second bytes and so on, which compress better apart). Readers check
//! everything: no bytes make them panic.

use crate::analytics::block::{BlockError, MAX_EVENTS};
use crate::analytics::{TextValues, UNKNOWN};
use crate::time::Timestamp;

/// Bytes of a visitor.
pub(super) const VISITOR_BYTES: usize = 5;
/// Most bytes of the texts in a dictionary. Values beyond are not kept; only made-up traffic has so many.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// Significant bits of a latency that are kept.
const LATENCY_BITS: u32 = 4;

/// A column of texts as it is stored. The dictionary is sorted and has no text twice.
#[derive(Debug)]
pub struct TextView<'a> {
    pub dictionary: Vec<&'a str>,
    pub indexes: Indexes<'a>,
}

/// A column of numbers as it is stored, with a dictionary of the same kind.
#[derive(Debug)]
pub struct NumberView<'a> {
    pub dictionary: Vec<i64>,
    pub indexes: Indexes<'a>,
}

/// Which value of the dictionary each event has. All are below its length.
#[derive(Clone, Copy, Debug)]
pub enum Indexes<'a> {
    /// All events have the first and only value.
    Same(usize),
    One(&'a [u8]),
    /// The lower and the upper bytes.
    Two(&'a [u8], &'a [u8]),
}

impl Indexes<'_> {
    /// Put them into `out`, in place of what it holds.
    pub fn read_into(self, out: &mut Vec<u16>) {
        out.clear();
        match self {
            Self::Same(events) => out.resize(events, 0),
            Self::One(bytes) => out.extend(bytes.iter().copied().map(u16::from)),
            Self::Two(low, high) => {
                out.extend(
                    low.iter().zip(high).map(|(low, high)| u16::from_le_bytes([*low, *high])),
                );
            }
        }
    }

    fn largest(self) -> u16 {
        match self {
            Self::Same(_) => 0,
            Self::One(bytes) => bytes.iter().copied().max().unwrap_or(0).into(),
            Self::Two(low, high) => {
                let pairs = low.iter().zip(high);
                pairs.map(|(low, high)| u16::from_le_bytes([*low, *high])).max().unwrap_or(0)
            }
        }
    }
}

/// Reads a column from its beginning.
pub(super) struct PlainReader<'a>(pub(super) &'a [u8]);

impl<'a> PlainReader<'a> {
    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], BlockError> {
        let (taken, rest) =
            self.0.split_at_checked(bytes).ok_or(BlockError::Malformed("it ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, BlockError> {
        let (first, rest) = self.0.split_first().ok_or(BlockError::Malformed("it ends early"))?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn varint(&mut self) -> Result<u64, BlockError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(BlockError::Malformed("a number is too long"))
    }

    /// A number that may be at most `most`.
    pub(super) fn length(&mut self, most: usize) -> Result<usize, BlockError> {
        let length = usize::try_from(self.varint()?).ok().filter(|length| *length <= most);
        length.ok_or(BlockError::Malformed("a length is too large"))
    }

    pub(super) fn texts(mut self, events: usize) -> Result<TextView<'a>, BlockError> {
        // Every value of a dictionary has an event, but for the unknown one.
        let count = self.length(events.saturating_add(1))?;
        let mut lengths = Vec::with_capacity(count);
        for _ in 0..count {
            lengths.push(self.length(MAX_TEXT_BYTES)?);
        }
        let mut dictionary = Vec::with_capacity(count);
        for length in lengths {
            let text = std::str::from_utf8(self.take(length)?);
            dictionary.push(text.map_err(|_| BlockError::Malformed("a text is not UTF-8"))?);
        }
        if !dictionary.is_sorted_by(|left, right| left < right) {
            return Err(BlockError::Malformed("a dictionary is not sorted"));
        }
        Ok(TextView { indexes: self.indexes(events, count)?, dictionary })
    }

    pub(super) fn numbers(mut self, events: usize) -> Result<NumberView<'a>, BlockError> {
        let count = self.length(events)?;
        let mut dictionary = Vec::with_capacity(count);
        let mut last = 0_i64;
        for _ in 0..count {
            last = last.wrapping_add(unfold(self.varint()?));
            dictionary.push(last);
        }
        if !dictionary.is_sorted_by(|left, right| left < right) {
            return Err(BlockError::Malformed("a dictionary is not sorted"));
        }
        Ok(NumberView { indexes: self.indexes(events, count)?, dictionary })
    }

    fn indexes(&mut self, events: usize, count: usize) -> Result<Indexes<'a>, BlockError> {
        let indexes = match count {
            0 if events > 0 => return Err(BlockError::Malformed("a dictionary is empty")),
            0 | 1 => Indexes::Same(events),
            2..=0x100 => Indexes::One(self.take(events)?),
            _ => Indexes::Two(self.take(events)?, self.take(events)?),
        };
        if count > 0 && usize::from(indexes.largest()) >= count {
            return Err(BlockError::Malformed("an index is beyond its dictionary"));
        }
        self.end()?;
        Ok(indexes)
    }

    /// Times in milliseconds, in place of what `out` holds.
    pub(super) fn times(mut self, events: usize, out: &mut Vec<i64>) -> Result<(), BlockError> {
        let first = unfold(self.varint()?);
        self.planes(events, out)?;
        let mut last = first;
        for time in out {
            last = last.wrapping_add(unfold(time.cast_unsigned()));
            *time = last;
        }
        Ok(())
    }

    /// How many clicks each event stands for, in place of what `out` holds.
    pub(super) fn counts(mut self, events: usize, out: &mut Vec<u32>) -> Result<(), BlockError> {
        let least = self.varint()?;
        let mut numbers = Vec::new();
        self.planes(events, &mut numbers)?;
        out.clear();
        for number in numbers {
            let count = u32::try_from(least.wrapping_add(number.cast_unsigned()));
            out.push(count.map_err(|_| BlockError::Malformed("a count is too large"))?);
        }
        Ok(())
    }

    /// Numbers of 0 to 8 planes.
    fn planes(&mut self, events: usize, out: &mut Vec<i64>) -> Result<(), BlockError> {
        let planes = self.byte()?;
        if planes > 8 {
            return Err(BlockError::Malformed("a number has too many bytes"));
        }
        out.clear();
        out.resize(events, 0);
        for plane in 0..planes {
            for (number, byte) in out.iter_mut().zip(self.take(events)?) {
                *number |= i64::from(*byte) << (8 * plane);
            }
        }
        self.end()
    }

    pub(super) fn visitors(mut self, events: usize) -> Result<&'a [u8], BlockError> {
        let visitors = self.take(events.saturating_mul(VISITOR_BYTES))?;
        self.end()?;
        Ok(visitors)
    }

    fn end(&self) -> Result<(), BlockError> {
        if self.0.is_empty() { Ok(()) } else { Err(BlockError::Malformed("bytes are left over")) }
    }
}

/// A visitor of [`PlainReader::visitors`].
#[inline]
pub(super) fn visitor(bytes: [u8; VISITOR_BYTES]) -> u64 {
    let mut number = [0; 8];
    if let Some(low) = number.first_chunk_mut() {
        *low = bytes;
    }
    u64::from_le_bytes(number)
}

/// The texts of the first `events`; false when none of them is known, and nothing was written.
pub(super) fn write_texts(values: &TextValues, events: usize, out: &mut Vec<u8>) -> bool {
    let unknown = values.dictionary.len();
    let place = |index: Option<&u32>| {
        let place = index.and_then(|index| usize::try_from(*index).ok());
        place.filter(|place| *place < unknown).unwrap_or(unknown)
    };
    let text = |place: usize| values.dictionary.get(place).map_or(UNKNOWN, |text| &**text);
    let places: Vec<usize> = (0..events).map(|event| place(values.indexes.get(event))).collect();
    let mut is_used = vec![false; unknown.saturating_add(1)];
    for place in &places {
        if let Some(used) = is_used.get_mut(*place) {
            *used = true;
        }
    }
    let used = is_used.iter().enumerate().filter(|(_, used)| **used).map(|(place, _)| place);
    let mut used: Vec<usize> = used.collect();
    used.sort_unstable_by_key(|place| text(*place));
    if used.iter().all(|place| text(*place) == UNKNOWN) {
        return false;
    }

    let mut dictionary: Vec<&str> = Vec::new();
    if used.iter().map(|place| text(*place).len()).sum::<usize>() > MAX_TEXT_BYTES {
        dictionary.push(UNKNOWN);
    }
    let mut numbers = vec![0_u16; unknown.saturating_add(1)];
    let mut bytes = 0;
    for place in used {
        let text = text(place);
        if dictionary.last() != Some(&text) {
            if bytes + text.len() > MAX_TEXT_BYTES || dictionary.len() >= MAX_EVENTS {
                continue;
            }
            bytes += text.len();
            dictionary.push(text);
        }
        if let Some(number) = numbers.get_mut(place) {
            *number = u16::try_from(dictionary.len() - 1).unwrap_or(0);
        }
    }
    write_varint(number(dictionary.len()), out);
    for text in &dictionary {
        write_varint(number(text.len()), out);
    }
    for text in &dictionary {
        out.extend_from_slice(text.as_bytes());
    }
    let indexes = places.iter().map(|place| numbers.get(*place).copied().unwrap_or(0));
    write_indexes(indexes, dictionary.len(), out);
    true
}

/// Numbers that repeat, such as links.
pub(super) fn write_numbers(values: &[i64], out: &mut Vec<u8>) {
    let mut dictionary = values.to_vec();
    dictionary.sort_unstable();
    dictionary.dedup();
    write_varint(number(dictionary.len()), out);
    let mut last = 0_i64;
    for value in &dictionary {
        write_varint(fold(value.wrapping_sub(last)), out);
        last = *value;
    }
    let index =
        |value: &i64| u16::try_from(dictionary.binary_search(value).unwrap_or(0)).unwrap_or(0);
    write_indexes(values.iter().map(index), dictionary.len(), out);
}

fn write_indexes(indexes: impl Iterator<Item = u16> + Clone, count: usize, out: &mut Vec<u8>) {
    if count > 1 {
        out.extend(indexes.clone().map(|index| index.to_le_bytes()[0]));
    }
    if count > 0x100 {
        out.extend(indexes.map(|index| index.to_le_bytes()[1]));
    }
}

/// The first time, and the differences from one to the next.
pub(super) fn write_times(times: &[Timestamp], out: &mut Vec<u8>) {
    let first = times.first().map_or(0, |time| time.as_ms());
    write_varint(fold(first), out);
    let mut last = first;
    let difference = |time: &Timestamp| {
        let difference = fold(time.as_ms().wrapping_sub(last));
        last = time.as_ms();
        difference
    };
    write_planes(&times.iter().map(difference).collect::<Vec<u64>>(), out);
}

pub(super) fn write_counts(counts: &[u32], out: &mut Vec<u8>) {
    let least = counts.iter().copied().min().unwrap_or(0);
    write_varint(least.into(), out);
    write_planes(&counts.iter().map(|count| u64::from(count - least)).collect::<Vec<u64>>(), out);
}

fn write_planes(numbers: &[u64], out: &mut Vec<u8>) {
    let most = numbers.iter().copied().max().unwrap_or(0);
    let planes = (u64::BITS - most.leading_zeros()).div_ceil(8);
    out.push(u8::try_from(planes).unwrap_or(8));
    for plane in 0..planes {
        out.extend(numbers.iter().map(|number| (number >> (8 * plane)).to_le_bytes()[0]));
    }
}

pub(super) fn write_visitors(visitors: &[u64], out: &mut Vec<u8>) {
    for visitor in visitors {
        out.extend(visitor.to_le_bytes().into_iter().take(VISITOR_BYTES));
    }
}

pub(super) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Rounded down to a few significant bits, so that there are few distinct ones.
pub(super) fn rounded_latency(nanos: u32) -> u32 {
    let shift = (u32::BITS - nanos.leading_zeros()).saturating_sub(LATENCY_BITS);
    (nanos >> shift) << shift
}

fn number(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A signed number as one that is small when the number is near zero.
const fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

const fn unfold(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_zero_are_folded_to_small_ones_and_back() {
        for (value, folded) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1)] {
            assert_eq!((fold(value), unfold(folded)), (folded, value));
        }
        assert_eq!(unfold(fold(i64::MIN)), i64::MIN);
    }

    #[test]
    fn a_latency_keeps_four_significant_bits() {
        for (nanos, kept) in [(0, 0), (15, 15), (17, 16), (49_152, 49_152), (50_000, 49_152)] {
            assert_eq!(rounded_latency(nanos), kept);
            assert_eq!(rounded_latency(kept), kept);
        }
        assert!(rounded_latency(u32::MAX) >= 0xf000_0000);
    }

    #[test]
    fn a_dictionary_is_sorted_and_has_only_what_is_used() {
        let values = TextValues {
            dictionary: ["DE", "AT", "DE", "unused"].map(Box::from).to_vec(),
            indexes: vec![2, 0, 1, 99],
        };
        let mut plain = Vec::new();
        assert!(write_texts(&values, 4, &mut plain));
        let view = PlainReader(&plain).texts(4).unwrap();
        assert_eq!(view.dictionary, ["", "AT", "DE"]);
        let mut indexes = Vec::new();
        view.indexes.read_into(&mut indexes);
        assert_eq!(indexes, [2, 2, 1, 0]);
        assert!(!write_texts(&TextValues::of(["", ""]), 2, &mut plain), "nothing is known");
    }

    #[test]
    fn more_texts_than_there_is_room_for_are_not_kept() {
        let texts: Vec<String> = (0..40_000).map(|number| format!("{number:0>300}")).collect();
        let mut plain = Vec::new();
        assert!(write_texts(&TextValues::of(texts.iter().map(|text| &**text)), 40_000, &mut plain));
        assert!(plain.len() < MAX_TEXT_BYTES + 40_000 * 5, "it is bounded");
        let view = PlainReader(&plain).texts(40_000).unwrap();
        let mut indexes = Vec::new();
        view.indexes.read_into(&mut indexes);
        let text = |event: usize| view.dictionary[usize::from(indexes[event])];
        assert_eq!((text(0), text(39_999)), (&*texts[0], UNKNOWN));
    }
}
