//! Links that were asked for before, so that asking for the same again costs no transaction. By
//! workspace and code: a deterministic code follows from the URL and a chosen one is given, so both
//! are known before the store is. Not who may have them, and not whether they are still what is
//! asked for: whoever looks decides that.
//!
//! Invariant: what was read before a link was told to be forgotten is not kept after it.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};
use tokio::time::Instant;

use kurz_core::link::Link;

/// What an entry costs beside its texts: the link, the key and the slots that lead to them. Measured
/// over 200,000 entries.
const ENTRY_BYTES: usize = 650;
/// How long a link is taken as it was read. Its counts go on, and are shown a second late anyway.
const FRESH: Duration = Duration::from_secs(1);
/// How long a link is known to exist after it was last read.
const KNOWN: Duration = Duration::from_hours(24);
/// Locks that forgetting and keeping share, so that links are rarely in each other's way.
const LOCKS: usize = 64;
/// What room is made for at once: the rest comes as it is needed.
const EXPECTED: usize = 1_000;

/// A link that is known to exist.
#[derive(Clone, Debug)]
pub struct ReusableLink {
    /// The link, as it was read.
    pub link: Arc<Link>,
    /// Whether that was so lately that its counts can be shown.
    pub is_fresh: bool,
}

/// A generation, to tell what was read after it from what was forgotten since.
#[derive(Clone, Copy, Debug)]
pub struct ReuseGeneration(u64);

#[derive(Clone, Debug)]
struct ReuseSlot {
    link: Arc<Link>,
    read: Instant,
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<String, ReuseSlot> for Weight {
    fn weight(&self, key: &String, slot: &ReuseSlot) -> u64 {
        let link = &slot.link;
        let tags: usize = link.tags.iter().map(|tag| 24 + tag.len()).sum();
        let texts = key.len() + link.target.len() + link.title.as_ref().map_or(0, String::len);
        u64::try_from(ENTRY_BYTES + texts + tags).unwrap_or(u64::MAX / 2)
    }
}

/// The memory.
#[derive(Debug)]
pub struct ReuseCache {
    slots: Cache<String, ReuseSlot, Weight>,
    generation: AtomicU64,
    /// When a link of each lock was last forgotten.
    forgotten: Vec<Mutex<u64>>,
    hasher: RandomState,
}

impl ReuseCache {
    /// A memory of at most about `bytes`; with 0 it keeps nothing.
    pub fn new(bytes: u64) -> Self {
        let slots = Cache::with(
            EXPECTED,
            bytes,
            Weight,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        );
        Self {
            slots,
            generation: AtomicU64::new(0),
            forgotten: (0..LOCKS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Now: to be taken before the store is read.
    pub fn generation(&self) -> ReuseGeneration {
        ReuseGeneration(self.generation.load(Ordering::SeqCst))
    }

    /// The link of this code, if it is known.
    pub fn find(&self, workspace: &str, code: &str) -> Option<ReusableLink> {
        let slot = self.slots.get(&key(workspace, code))?;
        let age = slot.read.elapsed();
        (age < KNOWN).then_some(ReusableLink { link: slot.link, is_fresh: age < FRESH })
    }

    /// Keep a link that was read after `generation`, unless it was forgotten since.
    pub fn keep(&self, generation: ReuseGeneration, link: Link) {
        let key = key(link.workspace.as_str(), link.code.as_str());
        self.with_lock(&key, |forgotten| {
            if *forgotten <= generation.0 {
                let slot = ReuseSlot { link: Arc::new(link), read: Instant::now() };
                self.slots.insert(key.clone(), slot);
            }
        });
    }

    /// Drop what is known about a link, since it changed.
    pub fn forget(&self, workspace: &str, code: &str) {
        let key = key(workspace, code);
        self.with_lock(&key, |forgotten| {
            *forgotten = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
            self.slots.remove(&key);
        });
    }

    /// Drop everything: any link may have changed.
    pub fn clear(&self) {
        for lock in &self.forgotten {
            let mut forgotten = lock.lock().unwrap_or_else(PoisonError::into_inner);
            *forgotten = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        }
        self.slots.clear();
    }

    /// How many links are here, and about how many bytes they take.
    pub fn size(&self) -> (usize, u64) {
        (self.slots.len(), self.slots.weight())
    }

    fn with_lock(&self, key: &str, act: impl FnOnce(&mut u64)) {
        let locks = u64::try_from(LOCKS).unwrap_or(1);
        let at = usize::try_from(self.hasher.hash_one(key) % locks).unwrap_or_default();
        if let Some(lock) = self.forgotten.get(at) {
            act(&mut lock.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

fn key(workspace: &str, code: &str) -> String {
    format!("{workspace}/{code}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::code::{Code, WorkspaceId};
    use kurz_core::link::{LinkId, Month, Strategy};
    use kurz_core::time::Timestamp;

    fn link(code: &str) -> Link {
        let now = Timestamp::from_ms(0);
        Link {
            id: LinkId(1),
            workspace: WorkspaceId::parse("team").unwrap(),
            code: Code::parse(code).unwrap(),
            strategy: Strategy::Custom,
            target: "https://example.com/".to_owned(),
            canonical_hash: [0; 32],
            title: None,
            tags: Vec::new(),
            redirect_status: 302,
            hit_limit: None,
            created_at: now,
            updated_at: now,
            expires_at: None,
            expired_at: None,
            deleted_at: None,
            purged_at: None,
            main_since: None,
            version: 1,
            redirect_count: 0,
            avg_redirect_ms: 0.0,
            last_redirect_at: None,
            month: Month::of(now),
            month_hits: 0,
            owner: None,
            is_temporary: false,
            destination_status: None,
            last_checked_at: None,
            disabled: None,
            made: kurz_core::link::LinkOrigin::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_is_fresh_for_a_second_and_known_for_a_day() {
        let reuse = ReuseCache::new(1 << 20);
        reuse.keep(reuse.generation(), link("abc"));
        assert!(reuse.find("team", "abc").unwrap().is_fresh);
        assert!(reuse.find("other", "abc").is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!reuse.find("team", "abc").unwrap().is_fresh);
        tokio::time::advance(KNOWN).await;
        assert!(reuse.find("team", "abc").is_none());
    }

    #[test]
    fn what_was_read_before_a_link_was_forgotten_is_not_kept() {
        let reuse = ReuseCache::new(1 << 20);
        let before = reuse.generation();
        reuse.keep(before, link("abc"));
        reuse.forget("team", "abc");
        assert!(reuse.find("team", "abc").is_none());
        reuse.keep(before, link("abc"));
        assert!(reuse.find("team", "abc").is_none());
        reuse.keep(reuse.generation(), link("abc"));
        assert!(reuse.find("team", "abc").is_some());
    }

    #[test]
    fn it_takes_no_more_memory_than_it_may() {
        let reuse = ReuseCache::new(100_000);
        for number in 0..10_000 {
            reuse.keep(reuse.generation(), link(&format!("code-{number}")));
        }
        let (count, bytes) = reuse.size();
        assert!((50..200).contains(&count) && bytes <= 100_000, "{count} links, {bytes} bytes");
        let none = ReuseCache::new(0);
        none.keep(none.generation(), link("abc"));
        assert!(none.find("team", "abc").is_none());
    }
}
