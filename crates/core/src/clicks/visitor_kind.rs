//! Who follows a link: a person, or something else. Every GET uses a hit of the quota, whoever makes it; a HEAD
//! is not sent on by anybody and uses none.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh64::xxh64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitorKind {
    Person,
    /// A declared bot or a prefetch.
    Other,
    /// A HEAD request: not counted, uses no quota.
    Head,
}

/// Substrings of the user agents of bots, crawlers and link previews, in lower case.
const BOTS: &[&str] = &[
    "bot",
    "crawl",
    "spider",
    "slurp",
    "archiver",
    "mediapartners-google",
    "google-inspectiontool",
    "facebookexternalhit",
    "facebookcatalog",
    "meta-externalagent",
    "meta-externalfetcher",
    "whatsapp",
    "skypeuripreview",
    "vkshare",
    "embedly",
    "iframely",
    "link preview",
    "linkpreview",
    "headlesschrome",
    "lighthouse",
    "uptime",
    "monitor",
    "feedfetcher",
    "ia_archiver",
    "chatgpt-user",
    "perplexity-user",
    "claude-user",
];
/// Substrings of people's user agents that contain one of [`BOTS`]: phones of the brand Cubot.
const NOT_BOTS: &[&str] = &["cubot"];

/// Results that are cached by each worker.
const CACHED: usize = 256;

/// Tells people from others. Results are cached by user agent, because searching one for thirty
/// substrings costs more than the rest of a redirect.
#[derive(Debug)]
pub struct Visitors {
    /// Secret, so that nobody can construct a user agent whose hash collides with another's.
    seed: u64,
    /// Hashes of user agents, with the result in the lowest bit. 0: empty.
    cache: [AtomicU64; CACHED],
}

impl Visitors {
    /// `seed` must be random.
    pub fn new(seed: u64) -> Self {
        Self { seed, cache: array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// The same seed with an empty cache.
    #[must_use]
    pub fn with_empty_cache(&self) -> Self {
        Self::new(self.seed)
    }

    /// Who makes a GET with these values of `Sec-Purpose` and `User-Agent`.
    #[inline]
    pub fn of_get(&self, purpose: Option<&[u8]>, agent: Option<&[u8]>) -> VisitorKind {
        if purpose.is_some_and(|purpose| purpose.starts_with(b"prefetch"))
            || agent.is_some_and(|agent| self.is_bot(agent))
        {
            return VisitorKind::Other;
        }
        VisitorKind::Person
    }

    #[inline]
    fn is_bot(&self, agent: &[u8]) -> bool {
        let hash = xxh64(agent, self.seed);
        let slot = usize::try_from(hash >> 32).unwrap_or_default() % CACHED;
        let Some(slot) = self.cache.get(slot) else { return is_bot(agent) };
        let cached = slot.load(Ordering::Relaxed);
        if cached >> 1 == hash >> 1 && cached != 0 {
            return cached & 1 == 1;
        }
        let is_bot = is_bot(agent);
        slot.store((hash & !1) | u64::from(is_bot), Ordering::Relaxed);
        is_bot
    }
}

fn is_bot(agent: &[u8]) -> bool {
    let agent = String::from_utf8_lossy(agent).to_ascii_lowercase();
    let agent = NOT_BOTS.iter().fold(agent, |agent, name| agent.replace(name, ""));
    BOTS.iter().any(|name| agent.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("curl/8.5.0", false),
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
                let agent = format!("agent-{number}{}", if number % 3 == 0 { "-bot" } else { "" });
                assert_eq!(visitors.is_bot(agent.as_bytes()), number % 3 == 0, "{round} {agent}");
            }
        }
    }
}
