//! The data plane: address → cache → decision → answer. Nothing else stands between a visitor and
//! a target.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write. It answers
//! what it knows at once, and only for what it does not know does it wait, for a read.

mod answer;
mod key;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use http_body_util::Full;

use crate::cache::{Found, Hosts, LinkCache};
use crate::clock::{Clock, Stopwatch};
use crate::code::{Reserved, path};
use crate::link::{Decision, Month, decide};
use crate::record::Recorder;

use answer::Trouble;
use key::Key;

/// An answer of the data plane: no body, or a small one.
pub type Answer = Response<Full<Bytes>>;

/// Everything a redirect needs, shared by all threads.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Links by address.
    pub links: Arc<LinkCache>,
    /// Hosts of workspaces.
    pub hosts: Arc<Hosts>,
    /// Where redirects are counted.
    pub recorder: Arc<Recorder>,
    /// Words that are pages, not codes.
    pub reserved: Arc<Reserved>,
    /// What time it is.
    pub clock: Clock,
}

/// What the plane says to a request.
#[derive(Debug)]
pub enum Verdict {
    /// This is the answer.
    Answer(Answer),
    /// It is a short address, but its link is not in memory: see [`Plane::answer_cold`].
    Cold(Cold),
    /// Not a short address.
    NotMine,
}

/// A request whose link has to be read first.
#[derive(Debug)]
pub struct Cold {
    key: String,
    counts: bool,
    wants_page: bool,
    arrival: Stopwatch,
}

impl Plane {
    /// Answer a request, if it is for a short address and its link is in memory. `host` is the
    /// request's host in lower case, without a port.
    pub fn answer(
        &self,
        method: &Method,
        host: &str,
        path: &str,
        headers: &HeaderMap,
        arrival: Stopwatch,
    ) -> Verdict {
        let Some(short) = path::parse(path) else { return Verdict::NotMine };
        if short.preview {
            return Verdict::NotMine;
        }
        let key = match self.hosts.workspace(host) {
            None => Key::on_main_host(short.place),
            Some(workspace) => match Key::on_own_host(&workspace, short.place) {
                Some(key) => key,
                None => return Verdict::NotMine,
            },
        };
        if method != Method::GET && method != Method::HEAD {
            return if self.is_page(&key) {
                Verdict::NotMine
            } else {
                Verdict::Answer(answer::method_not_allowed())
            };
        }
        let counts = method == Method::GET;
        match self.links.get(key.as_str()) {
            Some(found) => {
                let wants_page = || answer::wants_page(headers);
                Verdict::Answer(self.decide(&found, counts, wants_page, arrival))
            }
            None if self.is_page(&key) => Verdict::NotMine,
            None => {
                let wants_page = answer::wants_page(headers);
                Verdict::Cold(Cold { key: key.as_str().to_owned(), counts, wants_page, arrival })
            }
        }
    }

    /// Read the link, then answer.
    pub async fn answer_cold(&self, cold: Cold) -> Answer {
        match self.links.load(&cold.key).await {
            Ok(found) => self.decide(&found, cold.counts, || cold.wants_page, cold.arrival),
            Err(error) => {
                tracing::warn!(%error, "a redirect could not be looked up");
                answer::trouble(Trouble::Unavailable, cold.wants_page)
            }
        }
    }

    /// The checks, in the order of the contract.
    fn decide(
        &self,
        found: &Found,
        counts: bool,
        wants_page: impl Fn() -> bool,
        arrival: Stopwatch,
    ) -> Answer {
        let Found::Link(entry) = found else {
            return answer::trouble(Trouble::NotFound, wants_page());
        };
        let now = self.clock.now();
        match decide(entry.life, self.clock.latest(now)) {
            Decision::NotFound => answer::trouble(Trouble::NotFound, wants_page()),
            Decision::Gone => answer::trouble(Trouble::Gone, wants_page()),
            Decision::Live => {
                let quota = entry.cell.quota();
                let month = Month::of(now);
                let within = if counts {
                    quota.take(month, entry.hit_limit)
                } else {
                    quota.has_room(month, entry.hit_limit)
                };
                if !within {
                    let seconds = Month::seconds_left(now);
                    return answer::trouble(Trouble::OverLimit { seconds }, wants_page());
                }
                let answer = answer::redirect(entry);
                if counts {
                    self.recorder.count(&entry.cell, arrival.elapsed(), now);
                }
                answer
            }
        }
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &Key<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}
