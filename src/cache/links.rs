//! Links by address. A key is `code` on the main host, or `workspace/code`; a slash is in neither,
//! so no two addresses share a key.
//!
//! Invariant: a link that was invalidated before or during a load is not served from the cache
//! afterwards. Invalidating a key also keeps a running load from being stored, and then changes the
//! key's version, which makes the entries of near caches stale.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use compact_str::CompactString;
use http::{HeaderValue, StatusCode};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};

use crate::cache::near::KeyVersion;
use crate::cache::{
    ActiveBlocklist, CacheLookups, CachedCounters, CachedLink, CachedLinkFields, CachedPlan,
    NearCache, PlanSettings,
};
use crate::clicks::WrittenClicks;
use crate::clock::Clock;
use crate::quota::SharedQuota;
use crate::store::{Error, RedirectRow, Store};
use kurz_core::analytics::AnalyticsMode;
use kurz_core::clicks::ClickTotals;
use kurz_core::code::canonicalise;
use kurz_core::counters::CounterTable;
use kurz_core::link::location::location;
use kurz_core::link::{AddressKey, LinkId, Reason, Validity};
use kurz_core::time::Timestamp;

/// What a link costs beside its texts: its counters, the key and the slots that lead to it. Measured;
/// see `docs/ARCHITECTURE.md`.
const ENTRY_BYTES: u64 = 256;
/// What an absent address costs beside its text.
const ABSENT_BYTES: u64 = 120;
/// The most that a worker may keep for itself; what is left goes to the cache that all of them use.
const NEAR_BYTES_MAX: u64 = 64 << 20;
/// Number of versions; keys share them by hash.
const VERSIONS: usize = 4096;
/// How long a negative entry is valid.
const ABSENT_FOR: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub enum Found {
    Link(CachedLink),
    Absent,
}

/// What the cache holds for a key.
#[derive(Clone, Debug)]
enum CacheSlot {
    Link(CachedLink),
    AbsentUntil(Timestamp),
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<CompactString, CacheSlot> for Weight {
    fn weight(&self, key: &CompactString, slot: &CacheSlot) -> u64 {
        match slot {
            CacheSlot::Link(link) => {
                let plan = link.plan().map_or(0, CachedPlan::bytes);
                weight(link) + u64::try_from(plan).unwrap_or(u64::MAX / 4)
            }
            CacheSlot::AbsentUntil(_) => {
                ABSENT_BYTES + u64::try_from(key.len()).unwrap_or(u64::MAX / 2)
            }
        }
    }
}

/// How much memory the cache may take.
#[derive(Clone, Copy, Debug)]
pub struct LinkCacheSizes {
    /// Bytes in all: half for the near caches of the workers, but at most 64 MiB for each; the rest for
    /// the shared cache.
    pub bytes: u64,
    pub workers: usize,
}

/// What holds for links and workspaces that say nothing else.
#[derive(Clone, Debug)]
pub struct LinkDefaults {
    /// Hits per month; 0 for no limit.
    pub hit_limit: u64,
    /// Whether details of clicks may be kept.
    pub details: bool,
    pub plans: PlanSettings,
}

/// Links by address key, shared by all workers.
#[derive(Debug)]
pub struct LinkCache {
    slots: Cache<CompactString, CacheSlot, Weight>,
    hasher: DefaultHashBuilder,
    /// Versions of keys, changed after an invalidation.
    versions: Vec<AtomicU64>,
    /// What each worker may keep for itself.
    near_bytes: u64,
    /// The near caches that were made, for their look-ups.
    near: Mutex<Vec<Arc<NearCache>>>,
    store: Arc<Store>,
    counters: CounterTable<CachedLink>,
    quota: Option<Arc<SharedQuota>>,
    clock: Clock,
    defaults: LinkDefaults,
    blocked: Arc<ActiveBlocklist>,
}

impl LinkCache {
    /// An empty cache in front of `store`.
    pub fn new(
        sizes: LinkCacheSizes,
        defaults: LinkDefaults,
        store: Arc<Store>,
        quota: Option<Arc<SharedQuota>>,
        blocked: Arc<ActiveBlocklist>,
        clock: Clock,
    ) -> Self {
        let workers = u64::try_from(sizes.workers.max(1)).unwrap_or(u64::MAX);
        let near_bytes = (sizes.bytes / 2 / workers).min(NEAR_BYTES_MAX);
        let bytes = sizes.bytes - near_bytes * workers;
        let expected = usize::try_from(bytes / (ENTRY_BYTES + 100)).unwrap_or(usize::MAX);
        let hasher = DefaultHashBuilder::default();
        let slots =
            Cache::with(expected, bytes, Weight, hasher.clone(), DefaultLifecycle::default());
        let versions = (0..VERSIONS).map(|_| AtomicU64::new(0)).collect();
        Self {
            slots,
            hasher,
            versions,
            near_bytes,
            near: Mutex::default(),
            store,
            counters: CounterTable::default(),
            quota,
            clock,
            defaults,
            blocked,
        }
    }

    /// A near cache for a worker.
    pub fn near(&self) -> Arc<NearCache> {
        let near = Arc::new(NearCache::new(self.near_bytes));
        self.lock_near().push(Arc::clone(&near));
        near
    }

    /// How links were looked up by all workers since the start.
    pub fn lookups(&self) -> CacheLookups {
        let each = self.lock_near().iter().map(|near| near.lookups()).collect::<Vec<_>>();
        each.iter().fold(CacheLookups::default(), |sum, one| CacheLookups {
            near: sum.near + one.near,
            shared: sum.shared + one.shared,
            missed: sum.missed + one.missed,
        })
    }

    fn lock_near(&self) -> MutexGuard<'_, Vec<Arc<NearCache>>> {
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn version(&self, key: &str) -> KeyVersion {
        let hash = self.hasher.hash_one(key);
        let number = self.versions.get(place(hash)).map(|version| version.load(Ordering::SeqCst));
        KeyVersion { hash, number: number.unwrap_or_default() }
    }

    /// What `key` leads to, if it is known here.
    pub fn get(&self, key: &str) -> Option<Found> {
        match self.slots.get(key)? {
            CacheSlot::Link(link) => Some(Found::Link(link)),
            CacheSlot::AbsentUntil(until) if self.clock.now() < until => Some(Found::Absent),
            CacheSlot::AbsentUntil(_) => None,
        }
    }

    /// What `key` leads to, from the store if it is not known here. Whoever asks for a key that
    /// is being loaded waits for that load.
    pub async fn load(&self, key: &str) -> Result<Found, Error> {
        let now = self.clock.now();
        self.slots
            .remove_if(key, |slot| matches!(slot, CacheSlot::AbsentUntil(end) if now >= *end));
        let guard = match self.slots.get_value_or_guard_async(&CompactString::from(key)).await {
            Ok(CacheSlot::Link(link)) => return Ok(Found::Link(link)),
            Ok(CacheSlot::AbsentUntil(_)) => return Ok(Found::Absent),
            Err(guard) => guard,
        };
        let link = self.read(key).await?;
        let slot = match &link {
            Some(link) => CacheSlot::Link(link.clone()),
            None => CacheSlot::AbsentUntil(now.plus(ABSENT_FOR)),
        };
        // Refused when the key was invalidated meanwhile. This answer is still right: the request came
        // before the change was acknowledged.
        let _ = guard.insert(slot);
        Ok(link.map_or(Found::Absent, Found::Link))
    }

    /// Drop what is known about `key`, since it changed.
    pub fn forget(&self, key: &str) {
        self.slots.remove(key);
        if let Some(version) = self.versions.get(place(self.hasher.hash_one(key))) {
            version.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub fn clear(&self) {
        self.slots.clear();
        for version in &self.versions {
            version.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// How many links are here, and about how many bytes they take.
    pub fn size(&self) -> (usize, u64) {
        (self.slots.len(), self.slots.weight())
    }

    /// The link that was read in `round` with its counters; `None` when it must be read again.
    fn with_counters(
        &self,
        row: &RedirectRow,
        fields: &CachedLinkFields<'_>,
        round: u64,
    ) -> Option<CachedLink> {
        let first = || {
            let reservation = self.quota.as_ref().map(|quota| quota.reservation(row.id));
            let counters = CachedCounters::new(row.id, row.month, row.month_hits, reservation);
            CachedLink::new(fields, counters)
        };
        self.counters.get(row.id, round, |known| known.with_fields(fields), first)
    }

    async fn read(&self, key: &str) -> Result<Option<CachedLink>, Error> {
        let Some(address) = AddressKey::parse(key) else { return Ok(None) };
        loop {
            let round = self.counters.round();
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
            let plan = self.defaults.plans.read(&place, &self.blocked, self.clock.now()).await?;
            let mut life = place.life;
            let is_blocked = plan.as_ref().is_some_and(|plan| plan.is_blocked);
            if is_blocked || self.blocked.covers(canonical.host()) {
                life.withheld = life.withheld.or(Some(Reason::Blocked));
            }
            let hit_limit = place.hit_limit.and_then(|limit| u64::try_from(limit).ok());
            let fields = CachedLinkFields {
                key,
                location: &target,
                validity: Validity::of(life),
                hit_limit: hit_limit.unwrap_or(self.defaults.hit_limit),
                status: if plan.is_some() { passing(status) } else { status },
                details: self.defaults.details && place.details != Some(AnalyticsMode::Off),
            };
            if let Some(link) = self.with_counters(&place, &fields, round) {
                return Ok(Some(match plan {
                    Some(read) => link.with_plan(&fields, read.plan),
                    None => link,
                }));
            }
        }
    }
}

impl WrittenClicks for LinkCache {
    fn written(&self, totals: &[ClickTotals]) {
        self.counters.written(totals);
    }

    fn sweep(&self) {
        self.counters.sweep();
    }

    fn is_written(&self, link: LinkId) -> bool {
        self.counters.is_written(link)
    }
}

/// The status of a link with a plan: browsers would keep what one visitor was answered for good.
fn passing(status: StatusCode) -> StatusCode {
    match status {
        StatusCode::MOVED_PERMANENTLY => StatusCode::FOUND,
        StatusCode::PERMANENT_REDIRECT => StatusCode::TEMPORARY_REDIRECT,
        other => other,
    }
}

/// About how many bytes a link takes without its plan.
pub(super) fn weight(link: &CachedLink) -> u64 {
    let texts = link.key().len() + link.location().len();
    ENTRY_BYTES + u64::try_from(texts).unwrap_or(u64::MAX / 2)
}

fn place(hash: u64) -> usize {
    usize::try_from(hash >> 32).unwrap_or_default() % VERSIONS
}
