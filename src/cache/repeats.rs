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

use crate::link::Link;

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
pub struct Known {
    /// The link, as it was read.
    pub link: Arc<Link>,
    /// Whether that was so lately that its counts can be shown.
    pub is_fresh: bool,
}

/// A moment, to tell what was read after it from what was forgotten since.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

#[derive(Clone, Debug)]
struct Slot {
    link: Arc<Link>,
    read: Instant,
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<String, Slot> for Weight {
    fn weight(&self, key: &String, slot: &Slot) -> u64 {
        let link = &slot.link;
        let tags: usize = link.fields.tags.iter().map(|tag| 24 + tag.len()).sum();
        let texts =
            key.len() + link.target.len() + link.fields.title.as_ref().map_or(0, String::len);
        u64::try_from(ENTRY_BYTES + texts + tags).unwrap_or(u64::MAX / 2)
    }
}

/// The memory.
#[derive(Debug)]
pub struct Repeats {
    slots: Cache<String, Slot, Weight>,
    moment: AtomicU64,
    /// When a link of each lock was last forgotten.
    forgotten: Vec<Mutex<u64>>,
    hasher: RandomState,
}

impl Repeats {
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
            moment: AtomicU64::new(0),
            forgotten: (0..LOCKS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Now: to be taken before the store is read.
    pub fn moment(&self) -> Moment {
        Moment(self.moment.load(Ordering::SeqCst))
    }

    /// The link of this code, if it is known.
    pub fn find(&self, workspace: &str, code: &str) -> Option<Known> {
        let slot = self.slots.get(&key(workspace, code))?;
        let age = slot.read.elapsed();
        (age < KNOWN).then_some(Known { link: slot.link, is_fresh: age < FRESH })
    }

    /// Keep a link that was read after `moment`, unless it was forgotten since.
    pub fn keep(&self, moment: Moment, link: Link) {
        let key = key(link.workspace.as_str(), link.code.as_str());
        self.with_lock(&key, |forgotten| {
            if *forgotten <= moment.0 {
                let slot = Slot { link: Arc::new(link), read: Instant::now() };
                self.slots.insert(key.clone(), slot);
            }
        });
    }

    /// Drop what is known about a link, since it changed.
    pub fn forget(&self, workspace: &str, code: &str) {
        let key = key(workspace, code);
        self.with_lock(&key, |forgotten| {
            *forgotten = self.moment.fetch_add(1, Ordering::SeqCst) + 1;
            self.slots.remove(&key);
        });
    }

    /// Drop everything: any link may have changed.
    pub fn clear(&self) {
        for lock in &self.forgotten {
            let mut forgotten = lock.lock().unwrap_or_else(PoisonError::into_inner);
            *forgotten = self.moment.fetch_add(1, Ordering::SeqCst) + 1;
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
    use crate::clock::Timestamp;
    use crate::code::{Code, WorkspaceId};
    use crate::link::{LinkFields, LinkId, Month, Strategy};

    fn link(code: &str) -> Link {
        let now = Timestamp::from_ms(0);
        Link {
            id: LinkId(1),
            workspace: WorkspaceId::parse("team").unwrap(),
            code: Code::parse(code).unwrap(),
            strategy: Strategy::Custom,
            target: "https://example.com/".to_owned(),
            canonical_hash: [0; 32],
            fields: LinkFields::default(),
            created_at: now,
            updated_at: now,
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
            made: crate::link::Made::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_is_fresh_for_a_second_and_known_for_a_day() {
        let repeats = Repeats::new(1 << 20);
        repeats.keep(repeats.moment(), link("abc"));
        assert!(repeats.find("team", "abc").unwrap().is_fresh);
        assert!(repeats.find("other", "abc").is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!repeats.find("team", "abc").unwrap().is_fresh);
        tokio::time::advance(KNOWN).await;
        assert!(repeats.find("team", "abc").is_none());
    }

    #[test]
    fn what_was_read_before_a_link_was_forgotten_is_not_kept() {
        let repeats = Repeats::new(1 << 20);
        let before = repeats.moment();
        repeats.keep(before, link("abc"));
        repeats.forget("team", "abc");
        assert!(repeats.find("team", "abc").is_none());
        repeats.keep(before, link("abc"));
        assert!(repeats.find("team", "abc").is_none());
        repeats.keep(repeats.moment(), link("abc"));
        assert!(repeats.find("team", "abc").is_some());
    }

    #[test]
    fn it_takes_no_more_memory_than_it_may() {
        let repeats = Repeats::new(100_000);
        for number in 0..10_000 {
            repeats.keep(repeats.moment(), link(&format!("code-{number}")));
        }
        let (count, bytes) = repeats.size();
        assert!((50..200).contains(&count) && bytes <= 100_000, "{count} links, {bytes} bytes");
        let none = Repeats::new(0);
        none.keep(none.moment(), link("abc"));
        assert!(none.find("team", "abc").is_none());
    }
}
