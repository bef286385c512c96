//! Links by address. A key is `code` on the main host, or `workspace/code`; a slash is in neither,
//! so no two addresses share a key.
//!
//! Invariant: what [`LinkCache::forget`] was told about before a load began, or while it runs, is
//! not served from the cache afterwards: forgetting a key also ends its load's right to be kept, and
//! then changes the key's stamp, which ends the right of all that workers keep for themselves.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use compact_str::CompactString;
use http::{HeaderValue, StatusCode};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};

use crate::cache::near::Stamp;
use crate::cache::{Blocked, Near};
use crate::clock::{Clock, Timestamp};
use crate::code::canonicalise;
use crate::link::location::location;
use crate::link::{AddressKey, Fate, Reason};
use crate::record::{Entry, Face, Recorder};
use crate::store::{Error, Store};

/// What a link costs beside its texts: its counters, the key and the slots that lead to it. Measured;
/// see `docs/ARCHITECTURE.md`.
const ENTRY_BYTES: u64 = 256;
/// What an absent address costs beside its text.
const ABSENT_BYTES: u64 = 120;
/// Stamps that keys share.
const STAMPS: usize = 4096;
/// How long an absent address is not asked for again.
const ABSENT_FOR: Duration = Duration::from_secs(5);

/// What an address leads to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A link, alive or not.
    Link(Entry),
    /// Nothing.
    Absent,
}

/// What the cache holds for a key.
#[derive(Clone, Debug)]
enum Slot {
    Link(Entry),
    AbsentUntil(Timestamp),
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<CompactString, Slot> for Weight {
    fn weight(&self, key: &CompactString, slot: &Slot) -> u64 {
        match slot {
            Slot::Link(entry) => weight(entry),
            Slot::AbsentUntil(_) => ABSENT_BYTES + u64::try_from(key.len()).unwrap_or(u64::MAX / 2),
        }
    }
}

/// The cache.
#[derive(Debug)]
pub struct LinkCache {
    slots: Cache<CompactString, Slot, Weight>,
    hasher: DefaultHashBuilder,
    /// Changed whenever something is forgotten that shares it, after it was.
    stamps: Vec<AtomicU64>,
    /// What each worker may keep for itself.
    near_bytes: u64,
    store: Arc<Store>,
    recorder: Arc<Recorder>,
    clock: Clock,
    default_hit_limit: u64,
    blocked: Arc<Blocked>,
}

impl LinkCache {
    /// A cache of at most about `bytes`, in front of `store`: half of them here, half with the workers.
    pub fn new(
        bytes: u64,
        store: Arc<Store>,
        recorder: Arc<Recorder>,
        clock: Clock,
        default_hit_limit: u64,
        blocked: Arc<Blocked>,
    ) -> Self {
        let bytes = bytes / 2;
        let near_bytes = bytes / u64::try_from(recorder.workers()).unwrap_or(u64::MAX);
        let expected = usize::try_from(bytes / (ENTRY_BYTES + 100)).unwrap_or(usize::MAX);
        let hasher = DefaultHashBuilder::default();
        let slots =
            Cache::with(expected, bytes, Weight, hasher.clone(), DefaultLifecycle::default());
        let stamps = (0..STAMPS).map(|_| AtomicU64::new(0)).collect();
        Self {
            slots,
            hasher,
            stamps,
            near_bytes,
            store,
            recorder,
            clock,
            default_hit_limit,
            blocked,
        }
    }

    /// What a worker keeps of this cache for itself.
    pub fn near(&self) -> Near {
        Near::new(self.near_bytes)
    }

    /// The stamp of a key.
    pub fn stamp(&self, key: &str) -> Stamp {
        let hash = self.hasher.hash_one(key);
        let number = self.stamps.get(place(hash)).map(|stamp| stamp.load(Ordering::SeqCst));
        Stamp { hash, number: number.unwrap_or_default() }
    }

    /// What `key` leads to, if it is known here.
    pub fn get(&self, key: &str) -> Option<Found> {
        match self.slots.get(key)? {
            Slot::Link(entry) => Some(Found::Link(entry)),
            Slot::AbsentUntil(until) if self.clock.now() < until => Some(Found::Absent),
            Slot::AbsentUntil(_) => None,
        }
    }

    /// What `key` leads to, from the store if it is not known here. Whoever asks for a key that
    /// is being loaded waits for that load.
    pub async fn load(&self, key: &str) -> Result<Found, Error> {
        let now = self.clock.now();
        self.slots.remove_if(key, |slot| matches!(slot, Slot::AbsentUntil(end) if now >= *end));
        let guard = match self.slots.get_value_or_guard_async(&CompactString::from(key)).await {
            Ok(Slot::Link(entry)) => return Ok(Found::Link(entry)),
            Ok(Slot::AbsentUntil(_)) => return Ok(Found::Absent),
            Err(guard) => guard,
        };
        let entry = self.read(key).await?;
        let slot = match &entry {
            Some(entry) => Slot::Link(entry.clone()),
            None => Slot::AbsentUntil(now.plus(ABSENT_FOR)),
        };
        // Refused when the key was forgotten meanwhile. This one answer is still right: it was
        // asked for before the change was acknowledged.
        let _ = guard.insert(slot);
        Ok(entry.map_or(Found::Absent, Found::Link))
    }

    /// Drop what is known about `key`, since it changed.
    pub fn forget(&self, key: &str) {
        self.slots.remove(key);
        if let Some(stamp) = self.stamps.get(place(self.hasher.hash_one(key))) {
            stamp.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Drop everything that is known.
    pub fn clear(&self) {
        self.slots.clear();
        for stamp in &self.stamps {
            stamp.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// How many links are here, and about how many bytes they take.
    pub fn size(&self) -> (usize, u64) {
        (self.slots.len(), self.slots.weight())
    }

    async fn read(&self, key: &str) -> Result<Option<Entry>, Error> {
        let Some(address) = AddressKey::parse(key) else { return Ok(None) };
        loop {
            let round = self.recorder.round();
            let Some(place) = self.store.find_redirect_row(&address).await? else {
                return Ok(None);
            };
            if place.life.purged_at.is_some() {
                return Ok(None);
            }
            let damaged = |what: &str| Error::Corrupt(format!("link {} has no {what}", place.id));
            let status =
                StatusCode::from_u16(place.redirect_status).map_err(|_| damaged("valid status"))?;
            // Again at this end: whatever stands in the store, nothing but http and https leaves
            // here.
            let canonical = canonicalise(&place.target).map_err(|_| damaged("valid target"))?;
            let target = location(&place.target, &canonical);
            HeaderValue::from_str(&target).map_err(|_| damaged("valid target"))?;
            let mut life = place.life;
            if self.blocked.covers(canonical.host()) {
                life.withheld = life.withheld.or(Some(Reason::Blocked));
            }
            let hit_limit = place.hit_limit.and_then(|limit| u64::try_from(limit).ok());
            let face = Face {
                key,
                location: &target,
                fate: Fate::of(life),
                hit_limit: hit_limit.unwrap_or(self.default_hit_limit),
                status,
            };
            let Some(entry) = self.recorder.entry(&place, &face, round) else { continue };
            return Ok(Some(entry));
        }
    }
}

/// About how many bytes a link takes.
pub(super) fn weight(entry: &Entry) -> u64 {
    let texts = entry.key().len() + entry.location().len();
    ENTRY_BYTES + u64::try_from(texts).unwrap_or(u64::MAX / 2)
}

/// Which stamp a hash has.
fn place(hash: u64) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default() % STAMPS
}
