//! Links by address. A key is `code` on the main host, or `workspace/code`; a slash is in neither,
//! so no two addresses share a key.
//!
//! Invariant: what [`LinkCache::forget`] was told about before a load began, or while it runs, is
//! not served from the cache afterwards: forgetting a key also ends its load's right to be kept.

use std::hint;
use std::sync::Arc;
use std::time::Duration;

use compact_str::CompactString;
use http::{HeaderValue, StatusCode};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};

use crate::cache::Blocked;
use crate::clock::{Clock, Timestamp};
use crate::code::canonicalise;
use crate::link::location::location;
use crate::link::{Fate, Reason};
use crate::record::{Cell, Recorder};
use crate::store::{Error, Store};

/// What an entry costs beside its texts: the link, its counters, the key and the slots that lead
/// to them. Measured; see `docs/ARCHITECTURE.md`.
const ENTRY_BYTES: u64 = 256;
/// What an absent address costs beside its text.
const ABSENT_BYTES: u64 = 120;
/// How long an absent address is not asked for again.
const ABSENT_FOR: Duration = Duration::from_secs(5);

/// A link, ready to be answered with.
#[derive(Debug)]
pub struct Entry {
    /// How it answers, and until when.
    pub fate: Fate,
    /// Hits a month; 0: any number.
    pub hit_limit: u64,
    /// The status of its redirect.
    pub status: StatusCode,
    /// Its counters.
    pub cell: Arc<Cell>,
    /// The prepared `Location`: fit for a header, as was seen when it was read.
    pub location: Box<str>,
}

impl Entry {
    /// Look at all that an answer needs. With many links each of these places is far from the
    /// processor; asked for at once, they come together.
    pub fn touch(&self) {
        let text = self.location.as_bytes();
        hint::black_box((self.cell.link(), text.first(), text.last()));
    }
}

/// What an address leads to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A link, alive or not.
    Link(Arc<Entry>),
    /// Nothing.
    Absent,
}

/// What the cache holds for a key.
#[derive(Clone, Debug)]
enum Slot {
    Link(Arc<Entry>),
    AbsentUntil(Timestamp),
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<CompactString, Slot> for Weight {
    fn weight(&self, key: &CompactString, slot: &Slot) -> u64 {
        let (fixed, text) = match slot {
            Slot::Link(entry) => (ENTRY_BYTES, entry.location.len()),
            Slot::AbsentUntil(_) => (ABSENT_BYTES, 0),
        };
        fixed + u64::try_from(key.len() + text).unwrap_or(u64::MAX / 2)
    }
}

/// The cache.
#[derive(Debug)]
pub struct LinkCache {
    slots: Cache<CompactString, Slot, Weight>,
    store: Arc<Store>,
    recorder: Arc<Recorder>,
    clock: Clock,
    default_hit_limit: u64,
    blocked: Arc<Blocked>,
}

impl LinkCache {
    /// A cache of at most about `bytes`, in front of `store`.
    pub fn new(
        bytes: u64,
        store: Arc<Store>,
        recorder: Arc<Recorder>,
        clock: Clock,
        default_hit_limit: u64,
        blocked: Arc<Blocked>,
    ) -> Self {
        let expected = usize::try_from(bytes / (ENTRY_BYTES + 100)).unwrap_or(usize::MAX);
        let slots = Cache::with(
            expected,
            bytes,
            Weight,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        );
        Self { slots, store, recorder, clock, default_hit_limit, blocked }
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
            Some(entry) => Slot::Link(Arc::clone(entry)),
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
    }

    /// Drop everything that is known.
    pub fn clear(&self) {
        self.slots.clear();
    }

    /// How many links are here, and about how many bytes they take.
    pub fn size(&self) -> (usize, u64) {
        (self.slots.len(), self.slots.weight())
    }

    async fn read(&self, key: &str) -> Result<Option<Arc<Entry>>, Error> {
        loop {
            let round = self.recorder.round();
            let Some(place) = self.store.find_place(key).await? else { return Ok(None) };
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
            // From here on in one go, so that what a redirect reads lies close together.
            let location = Box::from(&*target);
            let Some(cell) = self.recorder.cell(&place, round) else { continue };
            let hit_limit = place.hit_limit.and_then(|limit| u64::try_from(limit).ok());
            return Ok(Some(Arc::new(Entry {
                fate: Fate::of(life),
                hit_limit: hit_limit.unwrap_or(self.default_hit_limit),
                status,
                cell,
                location,
            })));
        }
    }
}
