//! The data plane: address → cache → decision → answer. Nothing else stands between a visitor and
//! a target.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write. It answers
//! what it knows at once, and only for what it does not know does it wait, for a read.

mod answer;
mod key;
mod pages;
mod visitor;
mod withheld;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use http_body_util::Full;

use crate::cache::{Entry, Found, Hosts, LinkCache};
use crate::clock::{Clock, Stopwatch, Timestamp};
use crate::code::{Reserved, path};
use crate::ledger::{Hit, Ledger, Reservation};
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
    /// It is a short address, but its link is not in memory, or none of its hits is: see
    /// [`Plane::answer_cold`].
    Cold(Cold),
    /// Not a short address.
    NotMine,
}

/// A request for which something has to be asked first.
#[derive(Debug)]
pub struct Cold {
    missing: Missing,
    visit: Visit,
    shows: Option<Language>,
}

/// What a request waits for.
#[derive(Debug)]
enum Missing {
    /// The link behind a key.
    Link(String),
    /// A hit of a link whose instances count together.
    Hit(Arc<Entry>),
}

/// Who asked, and when.
#[derive(Clone, Copy, Debug)]
struct Visit {
    visitor: Visitor,
    arrival: Stopwatch,
}

/// Nothing is known of a link's hits without asking.
struct Unknown(Arc<Entry>);

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
        let visit = Visit { visitor: self.visitors.of(method, headers), arrival };
        match self.links.get(key.as_str()) {
            Some(found) => {
                let shows = || answer::shows(headers);
                match self.decide(&found, visit, shows) {
                    Ok(answer) => Verdict::Answer(answer),
                    Err(Unknown(entry)) => {
                        let (missing, shows) = (Missing::Hit(entry), shows());
                        Verdict::Cold(Cold { missing, visit, shows })
                    }
                }
            }
            None if self.is_page(&key) => Verdict::NotMine,
            None => {
                let shows = answer::shows(headers);
                let missing = Missing::Link(key.as_str().to_owned());
                Verdict::Cold(Cold { missing, visit, shows })
            }
        }
    }

    /// Read the link, or ask for a hit, then answer.
    pub async fn answer_cold(&self, cold: Cold) -> Answer {
        let Cold { missing, visit, shows } = cold;
        let entry = match missing {
            Missing::Hit(entry) => entry,
            Missing::Link(key) => match self.links.load(&key).await {
                Ok(found) => match self.decide(&found, visit, || shows) {
                    Ok(answer) => return answer,
                    Err(Unknown(entry)) => entry,
                },
                Err(error) => {
                    tracing::warn!(%error, "a redirect could not be looked up");
                    return answer::trouble(Trouble::Unavailable, shows);
                }
            },
        };
        let Some((ledger, held)) = self.shared(&entry) else {
            return answer::trouble(Trouble::Uncounted, shows);
        };
        let looks_only = visit.visitor == Visitor::Other;
        let hit = ledger.ask(held, entry.hit_limit, looks_only).await;
        self.answer_shared(ledger, &entry, hit, visit, || shows)
    }

    /// The checks, in the order of the contract.
    fn decide(
        &self,
        found: &Found,
        visit: Visit,
        shows: impl Fn() -> Option<Language>,
    ) -> Result<Answer, Unknown> {
        let Found::Link(entry) = found else {
            return Ok(answer::trouble(Trouble::NotFound, shows()));
        };
        let now = self.clock.now();
        match entry.fate.at(self.clock.latest(now)) {
            Decision::NotFound => return Ok(answer::trouble(Trouble::NotFound, shows())),
            Decision::Withheld(reason) => {
                return Ok(answer::trouble(Trouble::Withheld(reason), shows()));
            }
            Decision::Gone => return Ok(answer::trouble(Trouble::Gone, shows())),
            Decision::Live => {}
        }
        let limit = entry.hit_limit;
        // A link without a limit needs nobody's leave.
        if let Some((ledger, held)) = self.shared(entry).filter(|_| limit > 0) {
            let hit = match visit.visitor {
                Visitor::Person => ledger.take(held, limit),
                Visitor::Other => ledger.look(held, limit),
            };
            let hit = hit.ok_or_else(|| Unknown(Arc::clone(entry)))?;
            return Ok(self.answer_shared(ledger, entry, hit, visit, shows));
        }
        Ok(self.answer_alone(entry, now, visit, shows))
    }

    /// The ledger that all instances share, and what this one holds of the link.
    fn shared<'a>(&'a self, entry: &'a Entry) -> Option<(&'a Ledger, &'a Arc<Reservation>)> {
        Some((self.recorder.ledger()?, entry.cell.reservation()?))
    }

    /// This instance keeps the limit.
    fn answer_alone(
        &self,
        entry: &Entry,
        mut now: Timestamp,
        visit: Visit,
        shows: impl Fn() -> Option<Language>,
    ) -> Answer {
        let month = Month::of(now);
        let quota = entry.cell.quota();
        let counted_in = match visit.visitor {
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
        self.send(entry, now, visit)
    }

    /// All instances together keep the limit, and go by the ledger's clock.
    fn answer_shared(
        &self,
        ledger: &Ledger,
        entry: &Entry,
        hit: Hit,
        visit: Visit,
        shows: impl Fn() -> Option<Language>,
    ) -> Answer {
        let now = ledger.now();
        match hit {
            Hit::Over => {
                let seconds = Month::seconds_left(now);
                answer::trouble(Trouble::OverLimit { seconds }, shows())
            }
            Hit::Away => answer::trouble(Trouble::Uncounted, shows()),
            Hit::Granted => {
                if visit.visitor == Visitor::Person {
                    // Only counted: it was granted.
                    entry.cell.quota().take(Month::of(now), 0);
                }
                self.send(entry, now, visit)
            }
        }
    }

    /// Send the visitor on, and leave the click where it is counted.
    fn send(&self, entry: &Entry, at: Timestamp, visit: Visit) -> Answer {
        let answer = answer::redirect(entry);
        let nanos = u32::try_from(visit.arrival.elapsed().as_nanos()).unwrap_or(u32::MAX);
        let click = Click { link: entry.cell.link(), at, nanos, visitor: visit.visitor };
        self.recorder.count(&self.lane, click);
        answer
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &Key<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}
