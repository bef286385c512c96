//! A bounded cache of what was read from the store, with the time at which it was read.
//!
//! Invariant: what was read before an invalidation is not kept after it. A reader takes the [`Generation`]
//! before it reads; an insert with one that is older than the key's last invalidation does nothing.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, UnitWeighter, Weighter};
use tokio::time::Instant;

/// Locks that inserts and invalidations share, so that keys are rarely in each other's way.
const LOCKS: usize = 64;
/// Entries that room is made for at once.
const EXPECTED: usize = 1_000;

/// How many invalidations there had been when a read began.
#[derive(Clone, Copy, Debug)]
pub struct Generation(u64);

/// A value and when it was read.
#[derive(Clone, Debug)]
pub(crate) struct Stamped<V> {
    pub(crate) value: V,
    read_at: Instant,
}

impl<V> Stamped<V> {
    pub(crate) fn age(&self) -> Duration {
        self.read_at.elapsed()
    }
}

#[derive(Debug)]
pub(crate) struct GenerationCache<K, V, W = UnitWeighter> {
    entries: Cache<K, Stamped<V>, W>,
    generation: AtomicU64,
    /// The generation in which a key of each lock was last invalidated.
    invalidated: Vec<Mutex<u64>>,
    hasher: RandomState,
}

impl<K: Hash + Eq + Clone, V: Clone> GenerationCache<K, V> {
    /// A cache of at most `most` entries.
    pub(crate) fn new(most: usize) -> Self {
        Self::with_weight(u64::try_from(most).unwrap_or(u64::MAX), UnitWeighter)
    }
}

impl<K: Hash + Eq + Clone, V: Clone, W: Weighter<K, Stamped<V>> + Clone> GenerationCache<K, V, W> {
    /// A cache of at most `most` in the weighter's measure; with 0 it keeps nothing.
    pub(crate) fn with_weight(most: u64, weighter: W) -> Self {
        let expected = usize::try_from(most).unwrap_or(EXPECTED).min(EXPECTED);
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self {
            entries: Cache::with(expected, most, weighter, hasher, lifecycle),
            generation: AtomicU64::new(0),
            invalidated: (0..LOCKS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// To be taken before the store is read.
    pub(crate) fn generation(&self) -> Generation {
        Generation(self.generation.load(Ordering::SeqCst))
    }

    pub(crate) fn get(&self, key: &K) -> Option<Stamped<V>> {
        self.entries.get(key)
    }

    /// Keep what was read after `generation`, unless its key was invalidated since.
    pub(crate) fn insert(&self, generation: Generation, key: K, value: V) {
        let Some(invalidated) = self.lock(&key) else { return };
        if *invalidated <= generation.0 {
            self.entries.insert(key, Stamped { value, read_at: Instant::now() });
        }
    }

    pub(crate) fn invalidate(&self, key: &K) {
        let Some(mut invalidated) = self.lock(key) else { return };
        *invalidated = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        self.entries.remove(key);
    }

    /// Invalidate every entry that `is_stale` names. It costs a look at each entry.
    pub(crate) fn invalidate_where(&self, is_stale: impl Fn(&K, &V) -> bool) {
        self.advance_all();
        self.entries.retain(|key, stamped| !is_stale(key, &stamped.value));
    }

    pub(crate) fn clear(&self) {
        self.advance_all();
        self.entries.clear();
    }

    pub(crate) fn size(&self) -> (usize, u64) {
        (self.entries.len(), self.entries.weight())
    }

    fn lock(&self, key: &K) -> Option<MutexGuard<'_, u64>> {
        let locks = u64::try_from(LOCKS).unwrap_or(1);
        let at = usize::try_from(self.hasher.hash_one(key) % locks).unwrap_or_default();
        Some(self.invalidated.get(at)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn advance_all(&self) {
        for lock in &self.invalidated {
            let mut invalidated = lock.lock().unwrap_or_else(PoisonError::into_inner);
            *invalidated = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(cache: &GenerationCache<u32, &'static str>, key: u32) -> Option<&'static str> {
        cache.get(&key).map(|stamped| stamped.value)
    }

    #[test]
    fn what_was_read_before_an_invalidation_is_not_kept() {
        let cache = GenerationCache::new(10);
        let ways: [fn(&GenerationCache<u32, &'static str>); 3] = [
            |cache| cache.invalidate(&1),
            |cache| cache.invalidate_where(|key, _| *key == 1),
            GenerationCache::clear,
        ];
        for invalidate in ways {
            let before = cache.generation();
            cache.insert(before, 1, "old");
            assert_eq!(value(&cache, 1), Some("old"));
            invalidate(&cache);
            assert_eq!(value(&cache, 1), None);
            cache.insert(before, 1, "old");
            assert_eq!(value(&cache, 1), None, "it was read before the invalidation");
            cache.insert(cache.generation(), 1, "new");
            assert_eq!(value(&cache, 1), Some("new"));
        }
    }

    #[test]
    fn an_invalidation_leaves_the_other_entries() {
        let cache = GenerationCache::new(10);
        for key in 1..=3 {
            cache.insert(cache.generation(), key, if key == 2 { "two" } else { "odd" });
        }
        cache.invalidate(&1);
        cache.invalidate_where(|_, value| *value == "two");
        assert_eq!([1, 2, 3].map(|key| value(&cache, key)), [None, None, Some("odd")]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_knows_its_age_and_the_cache_is_bounded() {
        let cache = GenerationCache::new(10);
        cache.insert(cache.generation(), 0, ());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(cache.get(&0).unwrap().age(), Duration::from_secs(2));
        for key in 0..1000 {
            cache.insert(cache.generation(), key, ());
        }
        assert!(cache.size().0 <= 10);
    }
}
