//! What questions about clicks share: who may scan, and sums of days that do not change any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};
use tokio::sync::Semaphore;

use crate::app::links::search_limit::{SearchLimit, SearchLimitSettings};
use crate::store::EventDay;
use kurz_core::analytics::day_partial::DayPartial;
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;

/// How long one question may take.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Bytes of sums that are kept.
const SUMS_BYTES: u64 = 32 << 20;
const EXPECTED_DAYS: usize = 1_000;
/// Visitors of rows that are kept for one day.
const MOST_ROWS: usize = 4_096;
/// Streams of clicks at the same time.
const STREAMS: u32 = 100;
/// Links whose workspace is remembered.
const LINKS: usize = 65_536;

#[derive(Debug)]
pub(crate) struct AnalyticsEngine {
    /// One question of an account at a time.
    pub(super) questions: SearchLimit,
    /// Streams of clicks as they come.
    pub(super) live: SearchLimit,
    /// Half of the cores scan.
    pub(super) cores: Arc<Semaphore>,
    pub(super) parallel_days: usize,
    pub(super) days: DayCache,
    /// The workspace of links with clicks in the event log; `None` for links that do not exist.
    pub(super) workspaces: Cache<LinkId, Option<WorkspaceId>>,
}

impl Default for AnalyticsEngine {
    fn default() -> Self {
        let cores = (available_parallelism().map_or(1, usize::from) / 2).max(1);
        Self {
            questions: SearchLimit::new(SearchLimitSettings { in_all: 0, per_account: 1 }),
            live: SearchLimit::new(SearchLimitSettings { in_all: STREAMS, per_account: 5 }),
            cores: Arc::new(Semaphore::new(cores)),
            parallel_days: cores.min(4),
            days: DayCache::new(SUMS_BYTES),
            workspaces: Cache::new(LINKS),
        }
    }
}

/// Which day, and what is asked about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DayKey {
    pub(super) workspace: WorkspaceId,
    pub(super) day: i64,
    /// A hash of the question without its range.
    pub(super) shape: (u64, u64),
}

/// The sums of a day, good while its blocks are the same.
#[derive(Debug)]
pub(super) struct RememberedDay {
    pub(super) blocks: EventDay,
    pub(super) sums: DayPartial,
    /// Visitors by group and row.
    rows: Mutex<HashMap<(usize, String), u64>>,
}

impl RememberedDay {
    pub(super) fn new(blocks: EventDay, sums: DayPartial) -> Self {
        Self { blocks, sums, rows: Mutex::default() }
    }

    /// The visitors of these rows, if those of all are known.
    pub(super) fn visitors(&self, rows: &[(usize, String)]) -> Option<Vec<u64>> {
        let known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.iter().map(|row| known.get(row).copied()).collect()
    }

    pub(super) fn keep_visitors(&self, rows: impl Iterator<Item = ((usize, String), u64)>) {
        let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for (row, visitors) in rows {
            if known.len() < MOST_ROWS || known.contains_key(&row) {
                known.insert(row, visitors);
            }
        }
    }
}

#[derive(Clone, Debug)]
struct DayWeighter;

impl Weighter<DayKey, Arc<RememberedDay>> for DayWeighter {
    fn weight(&self, _: &DayKey, day: &Arc<RememberedDay>) -> u64 {
        u64::try_from(day.sums.bytes() + size_of::<DayKey>()).unwrap_or(u64::MAX)
    }
}

/// Sums of days by the shape of the question.
#[derive(Debug)]
pub(super) struct DayCache(Cache<DayKey, Arc<RememberedDay>, DayWeighter>);

impl DayCache {
    fn new(bytes: u64) -> Self {
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self(Cache::with(EXPECTED_DAYS, bytes, DayWeighter, hasher, lifecycle))
    }

    /// What is known of a day with exactly these blocks.
    pub(super) fn get(&self, key: &DayKey, blocks: EventDay) -> Option<Arc<RememberedDay>> {
        self.0.get(key).filter(|day| day.blocks == blocks)
    }

    pub(super) fn insert(&self, key: DayKey, day: Arc<RememberedDay>) {
        self.0.insert(key, day);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_remembered_while_its_blocks_are_the_same() {
        let cache = DayCache::new(SUMS_BYTES);
        let workspace = WorkspaceId::parse("acme").unwrap();
        let key = DayKey { workspace, day: 5, shape: (1, 2) };
        let blocks = EventDay { day: 5, blocks: 2, last_seq: 9, events: 70_000 };
        let day = RememberedDay::new(blocks, DayPartial::default());
        let row = (0, "DE".to_owned());
        assert_eq!(day.visitors(std::slice::from_ref(&row)), None);
        day.keep_visitors(std::iter::once((row.clone(), 7)));
        cache.insert(key.clone(), Arc::new(day));
        let found = cache.get(&key, blocks).unwrap();
        assert_eq!(found.visitors(&[row]), Some(vec![7]));
        let merged = EventDay { blocks: 1, last_seq: 10, ..blocks };
        assert!(cache.get(&key, merged).is_none(), "blocks were merged");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let cache = DayCache::new(100_000);
        let blocks = EventDay { day: 0, blocks: 1, last_seq: 1, events: 1 };
        let workspace = WorkspaceId::parse("acme").unwrap();
        for day in 0..2_000 {
            let key = DayKey { workspace: workspace.clone(), day, shape: (0, 0) };
            cache.insert(key, Arc::new(RememberedDay::new(blocks, DayPartial::default())));
        }
        assert!(cache.0.weight() <= 100_000 && cache.0.len() < 1_000);
        let day = RememberedDay::new(blocks, DayPartial::default());
        day.keep_visitors((0..10_000).map(|row| ((row, String::new()), 1)));
        assert!(day.rows.lock().unwrap().len() <= MOST_ROWS);
    }
}
