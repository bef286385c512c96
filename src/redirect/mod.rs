//! The data plane: address → cache → decision → answer. Nothing else stands between a visitor and
//! a target.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write. It answers
//! what it knows at once, and only for what it does not know does it wait, for a read.

mod answer;
mod key;
mod pages;
mod visitor;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use http_body_util::Full;

use crate::cache::{Found, Hosts, LinkCache};
use crate::clock::{Clock, Stopwatch};
use crate::code::{Reserved, path};
use crate::link::{Decision, Month};
use crate::record::{Click, Lane, Recorder, Visitor};

use answer::Trouble;
use key::Key;
use pages::Language;
pub use visitor::Visitors;

/// An answer of the data plane: no body, or a small one.
pub type Answer = Response<Full<Bytes>>;

/// Everything a redirect needs. Each worker has its own, and shares what it can.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Links by address.
    pub links: Arc<LinkCache>,
    /// Hosts of workspaces.
    pub hosts: Arc<Hosts>,
    /// Where redirects are counted.
    pub recorder: Arc<Recorder>,
    /// Where this worker leaves its clicks.
    pub lane: Arc<Lane>,
    /// Tells people from others.
    pub visitors: Arc<Visitors>,
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
    visitor: Visitor,
    shows: Option<Language>,
    arrival: Stopwatch,
}

impl Plane {
    /// The same for another worker: it leaves its clicks in a lane of its own.
    #[must_use]
    pub fn on_worker(mut self, worker: usize) -> Self {
        self.lane = self.recorder.lane(worker);
        self.visitors = Arc::new(self.visitors.alike());
        self
    }

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
        let visitor = self.visitors.of(method, headers);
        match self.links.get(key.as_str()) {
            Some(found) => {
                let shows = || answer::shows(headers);
                Verdict::Answer(self.decide(&found, visitor, shows, arrival))
            }
            None if self.is_page(&key) => Verdict::NotMine,
            None => {
                let shows = answer::shows(headers);
                Verdict::Cold(Cold { key: key.as_str().to_owned(), visitor, shows, arrival })
            }
        }
    }

    /// Read the link, then answer.
    pub async fn answer_cold(&self, cold: Cold) -> Answer {
        match self.links.load(&cold.key).await {
            Ok(found) => self.decide(&found, cold.visitor, || cold.shows, cold.arrival),
            Err(error) => {
                tracing::warn!(%error, "a redirect could not be looked up");
                answer::trouble(Trouble::Unavailable, cold.shows)
            }
        }
    }

    /// The checks, in the order of the contract.
    fn decide(
        &self,
        found: &Found,
        visitor: Visitor,
        shows: impl Fn() -> Option<Language>,
        arrival: Stopwatch,
    ) -> Answer {
        let Found::Link(entry) = found else {
            return answer::trouble(Trouble::NotFound, shows());
        };
        let mut now = self.clock.now();
        match entry.fate.at(self.clock.latest(now)) {
            Decision::NotFound => return answer::trouble(Trouble::NotFound, shows()),
            Decision::Gone => return answer::trouble(Trouble::Gone, shows()),
            Decision::Live => {}
        }
        let month = Month::of(now);
        let quota = entry.cell.quota();
        let counted_in = match visitor {
            Visitor::Person => quota.take(month, entry.hit_limit),
            Visitor::Other => quota.has_room(month, entry.hit_limit).then_some(month),
        };
        let Some(counted_in) = counted_in else {
            let seconds = Month::seconds_left(now);
            return answer::trouble(Trouble::OverLimit { seconds }, shows());
        };
        if counted_in != month {
            // The clock went back over the end of a month: the click belongs where its hit was
            // counted.
            now = counted_in.start();
        }
        let answer = answer::redirect(entry);
        let nanos = u32::try_from(arrival.elapsed().as_nanos()).unwrap_or(u32::MAX);
        let click = Click { link: entry.cell.link(), at: now, nanos, visitor };
        self.recorder.count(&self.lane, click);
        answer
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &Key<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}
