//! Who follows a link: a person, or something else. Every GET uses a hit of the quota, whoever makes it; a HEAD
//! is not sent on by anybody and uses none.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh64::xxh64;

use crate::clicks::bot_list::is_bot;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorKind {
    Person,
    /// A declared bot or a prefetch.
    Other,
    /// A HEAD request: not counted, uses no quota.
    Head,
}

/// Who makes a GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenVisitor {
    pub kind: VisitorKind,
    pub is_prefetch: bool,
    /// The hash of the user agent; 0 when there is none.
    pub agent_hash: u64,
}

/// Results that are cached by each worker.
const CACHED: usize = 256;

/// Tells people from others. Results are cached by user agent, because searching one for a hundred
/// names costs as much as a good part of a redirect.
#[derive(Debug)]
pub struct Visitors {
    /// Secret, so that nobody can construct a user agent whose hash collides with another's.
    seed: u64,
    /// Hashes of user agents, with the result in the lowest bit. 0: empty.
    cache: [AtomicU64; CACHED],
}

impl Visitors {
    /// `seed` must be random. Hashes of user agents are the same wherever it is the same.
    pub fn new(seed: u64) -> Self {
        Self { seed, cache: array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// The same seed with an empty cache.
    #[must_use]
    pub fn with_empty_cache(&self) -> Self {
        Self::new(self.seed)
    }

    /// The secret seed of all hashes of texts.
    #[inline]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Who makes a GET with these values of `Sec-Purpose` and `User-Agent`.
    #[inline]
    pub fn of_get(&self, purpose: Option<&[u8]>, agent: Option<&[u8]>) -> SeenVisitor {
        let is_prefetch = purpose.is_some_and(|purpose| purpose.starts_with(b"prefetch"));
        let (is_bot, agent_hash) = agent.map_or((false, 0), |agent| self.look_up(agent));
        let kind = if is_prefetch || is_bot { VisitorKind::Other } else { VisitorKind::Person };
        SeenVisitor { kind, is_prefetch, agent_hash }
    }

    /// Whether `agent` is a bot's, and its hash.
    #[inline]
    fn look_up(&self, agent: &[u8]) -> (bool, u64) {
        let hash = xxh64(agent, self.seed);
        let slot = usize::try_from(hash >> 32).unwrap_or_default() % CACHED;
        let Some(slot) = self.cache.get(slot) else { return (is_bot(agent), hash) };
        let cached = slot.load(Ordering::Relaxed);
        if cached >> 1 == hash >> 1 && cached != 0 {
            return (cached & 1 == 1, hash);
        }
        let is_bot = is_bot(agent);
        slot.store((hash & !1) | u64::from(is_bot), Ordering::Relaxed);
        (is_bot, hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Visitors {
        fn is_bot(&self, agent: &[u8]) -> bool {
            self.of_get(None, Some(agent)).kind == VisitorKind::Other
        }
    }

    #[test]
    fn a_prefetch_is_no_person_and_its_agent_is_hashed_like_any() {
        let visitors = Visitors::new(7);
        let person = visitors.of_get(None, Some(b"Mozilla/5.0"));
        assert_eq!((person.kind, person.is_prefetch), (VisitorKind::Person, false));
        let prefetch = visitors.of_get(Some(b"prefetch;prerender"), Some(b"Mozilla/5.0"));
        assert_eq!((prefetch.kind, prefetch.is_prefetch), (VisitorKind::Other, true));
        assert_eq!(person.agent_hash, prefetch.agent_hash);
        let same_seed = Visitors::new(7).of_get(None, Some(b"Mozilla/5.0"));
        assert_eq!(same_seed, person, "on another instance");
        assert_eq!(visitors.of_get(None, None).agent_hash, 0);
    }

    // threats: B11
    #[test]
    fn only_declared_bots_are_bots() {
        let visitors = Visitors::new(7);
        let cases: &[(&str, bool)] = &[
            ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", true),
            ("facebookexternalhit/1.1", true),
            ("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", true),
            ("WhatsApp/2.23.20.0", true),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", false),
            ("Mozilla/5.0 (Linux; Android 9; CUBOT X19) Chrome/120.0 Mobile Safari/537.36", false),
            ("curl/8.5.0", true),
            ("", false),
        ];
        for _ in 0..2 {
            for (agent, bot) in cases {
                assert_eq!(visitors.is_bot(agent.as_bytes()), *bot, "{agent}");
            }
        }
    }

    #[test]
    fn a_cached_result_equals_a_computed_one() {
        let visitors = Visitors::new(1);
        for round in 0..2 {
            for number in 0..2_000 {
                let agent = format!(
                    "Mozilla/5.0 agent-{number}{}",
                    if number % 3 == 0 { "-bot" } else { "" }
                );
                assert_eq!(visitors.is_bot(agent.as_bytes()), number % 3 == 0, "{round} {agent}");
            }
        }
    }
}
