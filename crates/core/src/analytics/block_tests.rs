//! Events come back as they were encoded, and bytes that were not encoded here are refused.

use proptest::prelude::*;

use crate::analytics::block::*;
use crate::analytics::column_format::rounded_latency;
use crate::analytics::{EventBatch, PRIVATE, TextColumn, TextValues, UNKNOWN};
use crate::link::LinkId;
use crate::time::Timestamp;
use zstd::bulk::Compressor;

/// Events of one hour with repeated values, from a seed.
fn batch(events: usize, seed: u64) -> EventBatch {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut batch = EventBatch::default();
    let mut texts: [Vec<String>; 25] = Default::default();
    for _ in 0..events {
        batch.links.push(LinkId(i64::try_from(next() % 500).unwrap()));
        let after = i64::try_from(next() % 3_600_000).unwrap();
        batch.times.push(Timestamp::from_ms(1_790_000_000_000 + after));
        batch.visitors.push(next() & 0xff_ffff_ffff);
        batch.nanos.push(rounded_latency(u32::try_from(next() % 90_000).unwrap()));
        batch.counts.push(u32::try_from(next() % 50).unwrap().saturating_sub(47).max(1));
        for (column, texts) in texts.iter_mut().enumerate() {
            texts.push(match (column, next() % 100) {
                (22 | 23, _) | (_, 0) => UNKNOWN.to_owned(),
                (_, 1) => PRIVATE.to_owned(),
                (3, draw) => format!("host-{}.example", draw * (next() % 50)),
                (_, draw) => format!("w\u{e9}rt {}", draw % 7),
            });
        }
    }
    for (values, texts) in batch.texts.iter_mut().zip(&texts) {
        *values = TextValues::of(texts.iter().map(|text| &**text));
    }
    batch
}

#[track_caller]
fn same(left: &EventBatch, right: &EventBatch) {
    assert_eq!((&left.links, &left.times), (&right.links, &right.times));
    assert_eq!((&left.visitors, &left.nanos), (&right.visitors, &right.nanos));
    assert_eq!(left.counts, right.counts);
    for column in TextColumn::ALL {
        for event in 0..left.len() {
            assert_eq!(left.text(column, event), right.text(column, event), "{column:?} {event}");
        }
    }
}

fn through_columns(batch: &EventBatch) -> Result<EventBatch, BlockError> {
    let columns = encode_columns(batch);
    decode_columns(columns.iter().map(|(column, data)| (*column, data.as_slice())))
}

#[test]
fn events_come_back_from_columns_and_from_rows() {
    for (events, seed) in [(0, 1), (1, 2), (2, 3), (300, 4), (5_000, 5)] {
        let batch = batch(events, seed);
        same(&through_columns(&batch).unwrap(), &batch);
        same(&decode_row(&encode_row(&batch)).unwrap(), &batch);
    }
}

#[test]
fn times_of_any_order_and_distance_come_back() {
    let times = [i64::MIN, 0, i64::MAX, 5, 4, 4].map(Timestamp::from_ms).to_vec();
    let batch = EventBatch { links: vec![LinkId(i64::MIN); 6], times, ..EventBatch::default() };
    let decoded = through_columns(&batch).unwrap();
    assert_eq!((&decoded.times, &decoded.links), (&batch.times, &batch.links));
    assert_eq!(decoded.texts[0].get(3), UNKNOWN);
}

#[test]
fn columns_that_are_absent_have_their_usual_values() {
    let times = vec![Timestamp::from_ms(5); 3];
    let batch = EventBatch { links: vec![LinkId(4); 3], times, ..EventBatch::default() };
    assert_eq!(encode_columns(&batch).len(), 2, "links and times");
    let decoded = through_columns(&batch).unwrap();
    assert_eq!((decoded.counts, decoded.visitors), (vec![1; 3], vec![0; 3]));
}

#[test]
fn a_full_block_comes_back_and_what_is_beyond_is_left_out() {
    let mut batch = batch(70_000, 9);
    let visitors: Vec<String> = batch.visitors.iter().map(|it| format!("{it:x}")).collect();
    batch.texts[18] = TextValues::of(visitors.iter().map(|text| &**text));
    let decoded = through_columns(&batch).unwrap();
    assert_eq!(decoded.len(), MAX_EVENTS);
    assert_eq!(decoded.links[..], batch.links[..MAX_EVENTS]);
    let last = MAX_EVENTS - 1;
    assert_eq!(decoded.text(TextColumn::UtmTerm, last), visitors[last], "all are distinct");
}

#[test]
fn values_that_repeat_cost_little() {
    let columns = encode_columns(&batch(65_536, 3));
    let of = |wanted: u8| columns.iter().find(|(column, _)| *column == wanted).unwrap().1.len();
    let browser = of(5);
    assert!(browser < 65_536 / 2, "seven values take at most half a byte: {browser}");
    assert!(columns.iter().all(|(column, _)| *column != 22), "nothing is known of variants");
}

#[test]
fn every_changed_byte_is_noticed() {
    let row = encode_row(&batch(3, 7));
    for place in 0..row.len() {
        let mut damaged = row.clone();
        damaged[place] ^= 0x10;
        assert!(decode_row(&damaged).is_err(), "byte {place}");
        assert!(decode_row(&row[..place]).is_err(), "the first {place} bytes");
    }
}

#[test]
fn columns_that_do_not_belong_together_are_refused() {
    let (three, four) = (encode_columns(&batch(3, 1)), encode_columns(&batch(4, 1)));
    let mixed = [(three[0].0, &*three[0].1), (four[1].0, &*four[1].1)];
    assert!(matches!(decode_columns(mixed), Err(BlockError::Malformed(_))));
    let swapped = [(three[1].0, &*three[0].1)];
    assert_eq!(decode_columns(swapped), Err(BlockError::Malformed("it is another column")));
    let future = [[2].as_slice(), &three[0].1[1..]].concat();
    assert_eq!(decode_columns([(0, &*future)]), Err(BlockError::Version(2)));
}

#[test]
fn a_small_column_that_claims_to_be_huge_is_refused() {
    let mut compressor = Compressor::new(LEVEL).unwrap();
    let zeros = vec![0; MAX_PLAIN + 1];
    let bomb = sealed(0, MAX_EVENTS, &zeros, Some(&mut compressor));
    assert!(bomb.len() < 4_096);
    assert_eq!(decode_columns([(0, &*bomb)]), Err(BlockError::Malformed("it is too large")));
    let many = sealed(0, MAX_EVENTS + 1, &[1, 0], None);
    assert_eq!(decode_columns([(0, &*many)]), Err(BlockError::Malformed("it is too large")));
}

proptest! {
    #[test]
    fn any_content_is_refused_or_read(
        plain in prop::collection::vec(any::<u8>(), 0..200),
        column in 0_u8..40,
        events in 0_usize..100,
    ) {
        let data = sealed(column, events, &plain, None);
        if let Ok(batch) = decode_columns([(column, &*data)]) {
            prop_assert!(batch.links.len() <= events && batch.counts.len() == events);
        }
        let _ = decode_row(&sealed(ROW, events, &plain, None));
    }
}
