//! Columns of events as bytes, for the event log and for blocks.
//!
//! A column is a head of 19 bytes (version, codec, column, events, length before compression, checksum) and its
//! content in the format of `column_format`. A row of the event log is the same with all columns in one content.
//! Decoding never panics, and no allocation of it has more than 16 MiB, whatever the bytes are.

use thiserror::Error;
use xxhash_rust::xxh64::Xxh64;
use zstd::bulk::{Compressor, Decompressor};

use crate::analytics::column_format::{
    NumberView, PlainReader, TextView, VISITOR_BYTES, rounded_latency, visitor, write_counts,
    write_numbers, write_texts, write_times, write_varint, write_visitors,
};
use crate::analytics::{EventBatch, TextColumn, TextValues};
use crate::link::LinkId;
use crate::time::Timestamp;

/// Most events in a block or a row of the log. Those beyond are not encoded.
pub const MAX_EVENTS: usize = 65_536;

/// Numbers of columns. Those of text columns are the numbers of [`TextColumn`].
pub const LINK: u8 = 32;
pub const TIME: u8 = 33;
pub const VISITOR: u8 = 34;
pub const NANOS: u8 = 35;
pub const COUNT: u8 = 36;
/// All columns in one content: a row of the log.
pub(super) const ROW: u8 = 255;
/// Sums of a day.
pub(super) const SUMS: u8 = 254;

const VERSION: u8 = 1;
const RAW: u8 = 0;
const ZSTD: u8 = 1;
pub(super) const LEVEL: i32 = 3;
const HEAD_BYTES: usize = 19;
const CHECKSUM_AT: usize = 11;
pub(super) const MAX_PLAIN: usize = 12 << 20;
/// A row holds all columns, raw.
const MAX_ROW: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BlockError {
    #[error("the column of events has version {0}, which this version of kurz does not know")]
    Version(u8),
    #[error("the column of events is damaged: its checksum differs")]
    Checksum,
    #[error("the column of events cannot be read: {0}")]
    Malformed(&'static str),
}

/// The columns of a block with their numbers, compressed. Columns that hold nothing but unknown values are left
/// out.
pub fn encode_columns(batch: &EventBatch) -> Vec<(u8, Vec<u8>)> {
    let mut compressor = Compressor::new(LEVEL).ok();
    let events = batch.len().min(MAX_EVENTS);
    let mut columns = Vec::new();
    each_column(batch, |column, plain| {
        columns.push((column, sealed(column, events, plain, compressor.as_mut())));
    });
    columns
}

/// A row of the log: all columns, not compressed.
pub fn encode_row(batch: &EventBatch) -> Vec<u8> {
    let mut content = Vec::new();
    each_column(batch, |column, plain| {
        content.push(column);
        write_varint(u64::try_from(plain.len()).unwrap_or(u64::MAX), &mut content);
        content.extend_from_slice(plain);
    });
    sealed(ROW, batch.len().min(MAX_EVENTS), &content, None)
}

/// The events of a block, or what is known of them by some of its columns. Absent counts are 1, absent visitors
/// and latencies 0, absent texts unknown; absent links and times stay empty.
pub fn decode_columns<'a>(
    columns: impl IntoIterator<Item = (u8, &'a [u8])>,
) -> Result<EventBatch, BlockError> {
    let mut reader = ColumnReader::default();
    let mut buffer = Vec::new();
    let mut decoder = BatchDecoder::default();
    for (column, data) in columns {
        decoder.add(column, &reader.open(column, data, &mut buffer)?)?;
    }
    Ok(decoder.finish())
}

/// The events of a row of the log.
pub fn decode_row(data: &[u8]) -> Result<EventBatch, BlockError> {
    let mut decoder = BatchDecoder::default();
    for (column, plain) in ColumnReader::open_row(data)? {
        decoder.add(column, &plain)?;
    }
    Ok(decoder.finish())
}

/// The columns of a row of the log.
fn row_columns<'a>(
    row: &PlainColumn<'a>,
) -> impl Iterator<Item = Result<(u8, PlainColumn<'a>), BlockError>> {
    let events = row.events;
    let mut rest = PlainReader(row.plain);
    std::iter::from_fn(move || {
        if rest.0.is_empty() {
            return None;
        }
        let mut part = || {
            let column = rest.byte()?;
            let length = rest.length(MAX_ROW)?;
            Ok((column, PlainColumn { events, plain: rest.take(length)? }))
        };
        let part = part();
        if part.is_err() {
            rest.0 = &[];
        }
        Some(part)
    })
}

/// Calls `with` with every column that has something to tell.
fn each_column(batch: &EventBatch, mut with: impl FnMut(u8, &[u8])) {
    let events = batch.len().min(MAX_EVENTS);
    let mut plain = Vec::new();
    for (column, values) in (0_u8..).zip(&batch.texts) {
        plain.clear();
        if write_texts(values, events, &mut plain) {
            with(column, &plain);
        }
    }
    let links: Vec<i64> = batch.links.iter().take(events).map(|link| link.0).collect();
    plain.clear();
    write_numbers(&links, &mut plain);
    with(LINK, &plain);
    plain.clear();
    write_times(batch.times.get(..events).unwrap_or(&batch.times), &mut plain);
    with(TIME, &plain);
    let visitors = batch.visitors.get(..events).unwrap_or_default();
    if visitors.iter().any(|visitor| *visitor != 0) {
        plain.clear();
        write_visitors(visitors, &mut plain);
        with(VISITOR, &plain);
    }
    let nanos = batch.nanos.get(..events).unwrap_or_default();
    if nanos.iter().any(|nanos| *nanos != 0) {
        let nanos: Vec<i64> = nanos.iter().map(|nanos| rounded_latency(*nanos).into()).collect();
        plain.clear();
        write_numbers(&nanos, &mut plain);
        with(NANOS, &plain);
    }
    let counts = batch.counts.get(..events).unwrap_or_default();
    if counts.iter().any(|count| *count != 1) {
        plain.clear();
        write_counts(counts, &mut plain);
        with(COUNT, &plain);
    }
}

/// A content with its head, compressed where that is smaller.
pub(super) fn sealed(
    column: u8,
    events: usize,
    plain: &[u8],
    compressor: Option<&mut Compressor<'_>>,
) -> Vec<u8> {
    let compressed = compressor.and_then(|compressor| compressor.compress(plain).ok());
    let compressed = compressed.filter(|compressed| compressed.len() < plain.len());
    let (codec, content) = compressed.as_ref().map_or((RAW, plain), |content| (ZSTD, content));
    let mut out = Vec::with_capacity(HEAD_BYTES + content.len());
    out.extend_from_slice(&[VERSION, codec, column]);
    for number in [events, plain.len()] {
        out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }
    let checksum = checksum(&out, content);
    out.extend_from_slice(&checksum.to_le_bytes());
    out.extend_from_slice(content);
    out
}

/// A content with a head that fits it: for fuzzing, which would never guess a checksum.
pub fn seal_raw(column: u8, events: usize, plain: &[u8]) -> Vec<u8> {
    sealed(column, events, plain, None)
}

fn checksum(head: &[u8], content: &[u8]) -> u64 {
    let mut hash = Xxh64::new(0);
    hash.update(head);
    hash.update(content);
    hash.digest()
}

/// Opens columns one after the other.
#[derive(Default)]
pub struct ColumnReader {
    decompressor: Decompressor<'static>,
}

impl std::fmt::Debug for ColumnReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ColumnReader")
    }
}

/// A column that was checked and decompressed.
#[derive(Clone, Copy, Debug)]
pub struct PlainColumn<'a> {
    pub events: usize,
    plain: &'a [u8],
}

impl ColumnReader {
    /// Check and decompress the column with the number `column`, into `buffer` if it is compressed.
    pub fn open<'a>(
        &mut self,
        column: u8,
        data: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<PlainColumn<'a>, BlockError> {
        let sealed = checked(column, data)?;
        if sealed.codec != ZSTD {
            return sealed.raw();
        }
        buffer.clear();
        buffer.reserve(sealed.length);
        let written = self.decompressor.decompress_to_buffer(sealed.content, buffer);
        written.map_err(|_| BlockError::Malformed("it cannot be decompressed"))?;
        if buffer.len() != sealed.length {
            return Err(BlockError::Malformed("it has another length than it says"));
        }
        Ok(PlainColumn { events: sealed.events, plain: buffer })
    }

    /// The columns of a row of the log with their numbers. They are not compressed.
    pub fn open_row(data: &[u8]) -> Result<Vec<(u8, PlainColumn<'_>)>, BlockError> {
        row_columns(&checked(ROW, data)?.raw()?).collect()
    }
}

/// A column whose head and checksum were checked.
struct SealedColumn<'a> {
    codec: u8,
    events: usize,
    length: usize,
    content: &'a [u8],
}

impl<'a> SealedColumn<'a> {
    fn raw(&self) -> Result<PlainColumn<'a>, BlockError> {
        if self.codec != RAW {
            return Err(BlockError::Malformed("its codec is unknown"));
        }
        if self.content.len() != self.length {
            return Err(BlockError::Malformed("it has another length than it says"));
        }
        Ok(PlainColumn { events: self.events, plain: self.content })
    }
}

fn checked(column: u8, data: &[u8]) -> Result<SealedColumn<'_>, BlockError> {
    const SHORT: BlockError = BlockError::Malformed("it is shorter than its head");
    let (head, content) = data.split_at_checked(HEAD_BYTES).ok_or(SHORT)?;
    let (head, sum) = head.split_at_checked(CHECKSUM_AT).ok_or(SHORT)?;
    let &[version, codec, named, e0, e1, e2, e3, l0, l1, l2, l3] = head else { return Err(SHORT) };
    if version != VERSION {
        return Err(BlockError::Version(version));
    }
    if checksum(head, content).to_le_bytes() != sum {
        return Err(BlockError::Checksum);
    }
    if named != column {
        return Err(BlockError::Malformed("it is another column"));
    }
    let most = if column == ROW { MAX_ROW } else { MAX_PLAIN };
    let bounded = |bytes: [u8; 4], most: usize| {
        let number = usize::try_from(u32::from_le_bytes(bytes)).ok();
        number.filter(|number| *number <= most).ok_or(BlockError::Malformed("it is too large"))
    };
    let events = bounded([e0, e1, e2, e3], MAX_EVENTS)?;
    let length = bounded([l0, l1, l2, l3], most)?;
    Ok(SealedColumn { codec, events, length, content })
}

impl<'a> PlainColumn<'a> {
    pub fn texts(&self) -> Result<TextView<'a>, BlockError> {
        PlainReader(self.plain).texts(self.events)
    }

    pub fn numbers(&self) -> Result<NumberView<'a>, BlockError> {
        PlainReader(self.plain).numbers(self.events)
    }

    /// Milliseconds, in place of what `out` holds.
    pub fn times(&self, out: &mut Vec<i64>) -> Result<(), BlockError> {
        PlainReader(self.plain).times(self.events, out)
    }

    /// In place of what `out` holds.
    pub fn visitors(&self, out: &mut Vec<u64>) -> Result<(), BlockError> {
        let bytes = PlainReader(self.plain).visitors(self.events)?;
        out.clear();
        out.extend(bytes.as_chunks::<VISITOR_BYTES>().0.iter().map(|bytes| visitor(*bytes)));
        Ok(())
    }

    /// In place of what `out` holds.
    pub fn counts(&self, out: &mut Vec<u32>) -> Result<(), BlockError> {
        PlainReader(self.plain).counts(self.events, out)
    }

    pub(super) fn reader(&self) -> PlainReader<'a> {
        PlainReader(self.plain)
    }
}

/// Puts columns together.
#[derive(Default)]
struct BatchDecoder {
    batch: EventBatch,
    events: Option<usize>,
}

impl BatchDecoder {
    fn add(&mut self, column: u8, plain: &PlainColumn<'_>) -> Result<(), BlockError> {
        if *self.events.get_or_insert(plain.events) != plain.events {
            return Err(BlockError::Malformed("its columns have different numbers of events"));
        }
        let batch = &mut self.batch;
        let mut indexes = Vec::new();
        match column {
            LINK => batch.links = repeated(&plain.numbers()?).map(LinkId).collect(),
            TIME => {
                let mut times = Vec::new();
                plain.times(&mut times)?;
                batch.times = times.into_iter().map(Timestamp::from_ms).collect();
            }
            VISITOR => plain.visitors(&mut batch.visitors)?,
            NANOS => {
                let nanos = plain.numbers()?;
                batch.nanos =
                    repeated(&nanos).map(|nanos| u32::try_from(nanos).unwrap_or(0)).collect();
            }
            COUNT => plain.counts(&mut batch.counts)?,
            text => {
                let Some(values) = batch.texts.get_mut(usize::from(text)) else {
                    return Err(BlockError::Malformed("there is no such column"));
                };
                let view = plain.texts()?;
                view.indexes.read_into(&mut indexes);
                *values = TextValues {
                    dictionary: view.dictionary.into_iter().map(Box::from).collect(),
                    indexes: indexes.into_iter().map(u32::from).collect(),
                };
            }
        }
        Ok(())
    }

    fn finish(mut self) -> EventBatch {
        let events = self.events.unwrap_or(0);
        self.batch.visitors.resize(events, 0);
        self.batch.nanos.resize(events, 0);
        self.batch.counts.resize(events, 1);
        self.batch
    }
}

/// The number of each event.
fn repeated(view: &NumberView<'_>) -> impl Iterator<Item = i64> {
    let mut indexes = Vec::new();
    view.indexes.read_into(&mut indexes);
    indexes
        .into_iter()
        .map(move |index| view.dictionary.get(usize::from(index)).copied().unwrap_or(0))
}

impl TextColumn {
    /// The column of a number that is stored.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
