//! Classifies visitors: HEAD requests, prefetches and declared bots use no quota and are counted apart
//! from people.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use xxhash_rust::xxh64::xxh64;

use crate::clicks::VisitorKind;

/// Pieces of the names that bots, crawlers and link previews give themselves, in lower case.
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
/// Names that hold such a piece and are people's: phones called Cubot.
const NOT_BOTS: &[&str] = &["cubot"];

const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

/// User agents that are remembered by each worker.
const REMEMBERED: usize = 256;

/// Classifies visitors, and caches the result per user agent: searching one for thirty names costs
/// more than the rest of a redirect.
#[derive(Debug)]
pub struct Visitors {
    /// Secret, so that nobody can craft a user agent whose hash collides with another's.
    seed: u64,
    /// Hashes of user agents, with the result in the last bit. 0 is empty.
    memory: [AtomicU64; REMEMBERED],
}

impl Visitors {
    /// With a random seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, memory: array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// The same with a cache of its own.
    pub(super) fn alike(&self) -> Self {
        Self::new(self.seed)
    }

    /// Who asks.
    pub fn of(&self, method: &Method, headers: &HeaderMap) -> VisitorKind {
        if method != Method::GET {
            return VisitorKind::Other;
        }
        let field = |name| headers.get(name).map(HeaderValue::as_bytes);
        self.of_get(field(SEC_PURPOSE), field(USER_AGENT))
    }

    /// Who asks with a GET, for this purpose and by this name.
    pub(super) fn of_get(&self, purpose: Option<&[u8]>, agent: Option<&[u8]>) -> VisitorKind {
        if purpose.is_some_and(|purpose| purpose.starts_with(b"prefetch"))
            || agent.is_some_and(|agent| self.is_bot(agent))
        {
            return VisitorKind::Other;
        }
        VisitorKind::Person
    }

    fn is_bot(&self, agent: &[u8]) -> bool {
        let hash = xxh64(agent, self.seed);
        let place = usize::try_from(hash >> 32).unwrap_or_default() % REMEMBERED;
        let Some(memory) = self.memory.get(place) else { return is_bot(agent) };
        let known = memory.load(Ordering::Relaxed);
        if known >> 1 == hash >> 1 && known != 0 {
            return known & 1 == 1;
        }
        let answer = is_bot(agent);
        memory.store((hash & !1) | u64::from(answer), Ordering::Relaxed);
        answer
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
    fn bots_are_those_that_say_so() {
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
    fn what_is_remembered_is_what_would_be_found_out() {
        let visitors = Visitors::new(1);
        for round in 0..2 {
            for number in 0..2_000 {
                let agent = format!("agent-{number}{}", if number % 3 == 0 { "-bot" } else { "" });
                assert_eq!(visitors.is_bot(agent.as_bytes()), number % 3 == 0, "{round} {agent}");
            }
        }
    }

    #[test]
    fn whoever_only_looks_is_not_a_person() {
        let visitors = Visitors::new(1);
        let with = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            headers
        };
        let of = |headers: &HeaderMap| visitors.of(&Method::GET, headers);
        assert_eq!(of(&HeaderMap::new()), VisitorKind::Person);
        assert_eq!(visitors.of(&Method::HEAD, &HeaderMap::new()), VisitorKind::Other);
        assert_eq!(of(&with("sec-purpose", "prefetch")), VisitorKind::Other);
        assert_eq!(of(&with("sec-purpose", "prefetch;prerender")), VisitorKind::Other);
        assert_eq!(of(&with("user-agent", "bingbot/2.0")), VisitorKind::Other);
        assert_eq!(of(&with("user-agent", "Mozilla/5.0")), VisitorKind::Person);
    }
}
