//! Links that were asked for before, so that asking for the same again costs no transaction. By
//! workspace and code: a deterministic code follows from the URL and a chosen one is given, so both
//! are known before the store is asked. Who may have a link, and whether it is still what is asked for,
//! is for the caller to check.

use std::sync::Arc;
use std::time::Duration;

use quick_cache::Weighter;

use super::generation::{Generation, GenerationCache, Stamped};
use kurz_core::link::Link;

/// What an entry costs beside its texts: the link, the key and the slots that lead to them. Measured
/// over 200,000 entries.
const ENTRY_BYTES: usize = 650;
/// How long a link's counts are shown as they were read.
const FRESH: Duration = Duration::from_secs(1);
/// How long a link is known to exist after it was last read.
const KNOWN: Duration = Duration::from_hours(24);

/// A link that is known to exist.
#[derive(Clone, Debug)]
pub struct ReusableLink {
    /// The link, as it was read.
    pub link: Arc<Link>,
    /// Whether its counts are recent enough to be shown.
    pub is_fresh: bool,
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<String, Stamped<Arc<Link>>> for Weight {
    fn weight(&self, key: &String, stamped: &Stamped<Arc<Link>>) -> u64 {
        let link = &stamped.value;
        let tags: usize = link.fields.tags.iter().map(|tag| 24 + tag.len()).sum();
        let optional = [&link.fields.title, &link.fields.note].into_iter().flatten();
        let texts = key.len() + link.target.len() + optional.map(String::len).sum::<usize>();
        let aliases: usize = link.aliases.iter().map(|alias| 24 + alias.as_str().len()).sum();
        u64::try_from(ENTRY_BYTES + texts + tags + aliases).unwrap_or(u64::MAX / 2)
    }
}

/// The cache of links by workspace and code.
#[derive(Debug)]
pub struct ReuseCache(GenerationCache<String, Arc<Link>, Weight>);

impl ReuseCache {
    /// A cache of at most about `bytes`; with 0 it keeps nothing.
    pub fn new(bytes: u64) -> Self {
        Self(GenerationCache::with_weight(bytes, Weight))
    }

    /// To be taken before the store is read.
    pub fn generation(&self) -> Generation {
        self.0.generation()
    }

    /// The link of this code, if it is known.
    pub fn find(&self, workspace: &str, code: &str) -> Option<ReusableLink> {
        let found = self.0.get(&key(workspace, code))?;
        let age = found.age();
        (age < KNOWN).then_some(ReusableLink { link: found.value, is_fresh: age < FRESH })
    }

    /// Keep a link that was read after `generation`, unless it was invalidated since.
    pub fn keep(&self, generation: Generation, link: Link) {
        let key = key(link.workspace.as_str(), link.code.as_str());
        self.0.insert(generation, key, Arc::new(link));
    }

    /// Drop what is known about a link, since it changed.
    pub fn invalidate(&self, workspace: &str, code: &str) {
        self.0.invalidate(&key(workspace, code));
    }

    /// Drop everything: any link may have changed.
    pub fn clear(&self) {
        self.0.clear();
    }

    /// How many links are here, and about how many bytes they take.
    pub fn size(&self) -> (usize, u64) {
        self.0.size()
    }
}

fn key(workspace: &str, code: &str) -> String {
    format!("{workspace}/{code}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::code::{Code, WorkspaceId};
    use kurz_core::link::{LinkFields, LinkId, Month, Strategy};
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
            destination_http_status: None,
            last_checked_at: None,
            disabled: None,
            made: kurz_core::link::LinkOrigin::default(),
            plan: None,
            aliases: Vec::new(),
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
    fn what_was_read_before_a_link_was_invalidated_is_not_kept() {
        let reuse = ReuseCache::new(1 << 20);
        let before = reuse.generation();
        reuse.keep(before, link("abc"));
        reuse.invalidate("team", "abc");
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
