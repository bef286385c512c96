//! The data plane: address → cache → decision → answer. Nothing else stands between a visitor and
//! a target.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write. It answers
//! what it knows at once, and only for what it does not know does it wait, for a read.

mod answer;
mod date;
mod key;
mod pages;
pub mod visitor;
mod withheld;

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};

use crate::cache::{Found, Hosts, LinkCache, Near};
use crate::client::{Client, Proxies};
use crate::clock::{Clock, Stopwatch, Timestamp};
use crate::code::{Reserved, path};
use crate::late::Late;
use crate::ledger::{Hit, Ledger, Reservation};
use crate::limits::Limits;
use crate::link::{Decision, Month};
use crate::record::{Click, Entry, Lane, Recorder, Visitor};

use crate::language::Language;
use answer::Trouble;
pub use date::Date;
use key::Key;
pub use visitor::Visitors;

/// An answer of the data plane: no body, or a small one.
pub type Answer = Response<Bytes>;

/// Everything a redirect needs. Each worker has its own, and shares what it can.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Links by address.
    pub links: Arc<LinkCache>,
    /// Those that this worker sent visitors to lately.
    pub near: Arc<Near>,
    /// Hosts of workspaces.
    pub hosts: Arc<Hosts>,
    /// Where redirects are counted.
    pub recorder: Arc<Recorder>,
    /// Where this worker leaves its clicks.
    pub lane: Arc<Lane>,
    /// Tells people from others.
    pub visitors: Arc<Visitors>,
    /// What the day is called in an answer.
    pub date: Arc<Date>,
    /// Words that are pages, not codes.
    pub reserved: Arc<Reserved>,
    /// How often somebody may ask for what does not exist.
    pub limits: Arc<Limits>,
    /// Whose word on addresses counts.
    pub proxies: Arc<Proxies>,
    /// Turns for those who asked for too much that does not exist.
    pub late: Arc<Late>,
    /// What time it is.
    pub clock: Clock,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its host in lower case, without a port.
    pub host: &'a str,
    /// Its path.
    pub path: &'a str,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Where its connection comes from.
    pub peer: IpAddr,
    /// When it came.
    pub arrival: Stopwatch,
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
    asker: Asker,
}

/// What a request waits for.
#[derive(Debug)]
enum Missing {
    /// The link behind a key.
    Link(String),
    /// A hit of a link whose instances count together.
    Hit(Entry),
}

/// What a refusal goes by. It is worked out only for one.
#[derive(Clone, Copy, Debug)]
struct Asker {
    client: Client,
    /// In which language they are shown a page, if they are.
    shows: Option<Language>,
}

/// Who asked, and when.
#[derive(Clone, Copy, Debug)]
struct Visit {
    visitor: Visitor,
    arrival: Stopwatch,
}

/// What the checks say of a visit. A hit is used up only where it may pass.
#[derive(Clone, Copy, Debug)]
enum Admission {
    /// It may pass; its click counts at this time.
    Pass(Timestamp),
    /// It may not.
    Refuse(Trouble),
    /// Nothing is known of the link's hits without asking.
    Ask,
}

/// All that a redirect looks at, of a GET as it came over the wire.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The host in lower case, without a port.
    pub host: &'a str,
    /// The path.
    pub path: &'a str,
    /// The first Sec-Purpose.
    pub purpose: Option<&'a [u8]>,
    /// The first User-Agent.
    pub agent: Option<&'a [u8]>,
    /// When it came.
    pub arrival: Stopwatch,
}

impl Plane {
    /// The same for another worker: it leaves its clicks in a lane of its own.
    #[must_use]
    pub fn on_worker(mut self, worker: usize) -> Self {
        self.near = Arc::new(self.links.near());
        self.lane = self.recorder.lane(worker);
        self.visitors = Arc::new(self.visitors.alike());
        self.date = Arc::default();
        self
    }

    /// Answer a request, if it is for a short address and its link is in memory.
    pub fn answer(&self, request: &Asked<'_>) -> Verdict {
        let Asked { method, host, path, headers, peer, arrival } = *request;
        let Some(key) = self.key(host, path) else { return Verdict::NotMine };
        if method != Method::GET && method != Method::HEAD {
            return if self.is_page(&key) {
                Verdict::NotMine
            } else {
                Verdict::Answer(answer::method_not_allowed())
            };
        }
        let asker =
            || Asker { client: self.proxies.client(peer, headers), shows: answer::shows(headers) };
        let visit = Visit { visitor: self.visitors.of(method, headers), arrival };
        let missing = match self.links.get(key.as_str()) {
            Some(Found::Link(entry)) => match self.admit(&entry, visit.visitor, self.clock.now()) {
                Admission::Ask => Missing::Hit(entry),
                known => return Verdict::Answer(self.conclude(&entry, known, visit, asker)),
            },
            Some(Found::Absent) => return Verdict::Answer(self.refuse(Trouble::NotFound, asker())),
            None if self.is_page(&key) => return Verdict::NotMine,
            None => Missing::Link(key.as_str().to_owned()),
        };
        Verdict::Cold(Cold { missing, visit, asker: asker() })
    }

    /// Put the answer to a GET into `out`, as HTTP/1.1 has it, if its link is in memory and sends the
    /// visitor on. Otherwise nothing has happened: all else is for [`Plane::answer`].
    pub fn send_on(&self, ask: &Ask<'_>, out: &mut Vec<u8>) -> bool {
        let Some(key) = self.key(ask.host, ask.path) else { return false };
        let key = key.as_str();
        let behind = || match self.links.get(key)? {
            Found::Link(entry) => Some(entry),
            Found::Absent => None,
        };
        let sent = self.near.with(key, self.links.stamp(key), behind, |entry| {
            let visitor = self.visitors.of_get(ask.purpose, ask.agent);
            let now = self.clock.at(ask.arrival);
            let Admission::Pass(at) = self.admit(entry, visitor, now) else { return false };
            self.date.with(now, |date| answer::write_redirect(entry, date, out));
            self.count(entry, at, Visit { visitor, arrival: ask.arrival });
            true
        });
        sent == Some(true)
    }

    /// Put any answer to a GET into `out`, as HTTP/1.1 has it.
    pub fn write(&self, answer: &Answer, out: &mut Vec<u8>) {
        self.date.with(self.clock.now(), |date| answer::write(answer, date, out));
    }

    /// Read the link, or ask for a hit, then answer.
    pub async fn answer_cold(&self, cold: Cold) -> Answer {
        let Cold { missing, visit, asker } = cold;
        let entry = match missing {
            Missing::Hit(entry) => entry,
            Missing::Link(key) => match self.look_up(&key, asker.client).await {
                Some(Found::Link(entry)) => {
                    match self.admit(&entry, visit.visitor, self.clock.now()) {
                        Admission::Ask => entry,
                        known => return self.conclude(&entry, known, visit, || asker),
                    }
                }
                Some(Found::Absent) => return self.refuse(Trouble::NotFound, asker),
                None => return self.refuse(Trouble::Unavailable, asker),
            },
        };
        let admission = match self.shared(&entry) {
            None => Admission::Refuse(Trouble::Uncounted),
            Some((ledger, held)) => {
                let looks_only = visit.visitor == Visitor::Other;
                let hit = ledger.ask(held, entry.hit_limit, looks_only).await;
                admit_shared(ledger, &entry, hit, visit.visitor)
            }
        };
        self.conclude(&entry, admission, visit, || asker)
    }

    /// What is behind a key; `None` when that cannot be told. Whether there is a link is not known before
    /// it was looked for, and whoever follows one is served, however much that does not exist they
    /// asked for before: only, those wait for each other.
    async fn look_up(&self, key: &str, client: Client) -> Option<Found> {
        let load = self.links.load(key);
        let is_late = self.limits.is_out_of_misses(client.0, self.clock.steady());
        let found = if is_late { self.late.serve(load).await } else { load.await };
        found.inspect_err(|error| tracing::warn!(%error, "a redirect could not be looked up")).ok()
    }

    /// Say why not. Who was told too often that there is nothing is told that instead.
    fn refuse(&self, trouble: Trouble, asker: Asker) -> Answer {
        let missed = || self.limits.miss(asker.client.0, self.clock.steady());
        let trouble = match trouble {
            Trouble::NotFound => missed().err().map_or(Trouble::NotFound, |limited| {
                Trouble::TooManyMisses { seconds: limited.wait.seconds() }
            }),
            other => other,
        };
        answer::trouble(trouble, asker.shows)
    }

    /// Where the link of an address is looked for; `None` when it is no link's address.
    fn key<'a>(&self, host: &str, path: &'a str) -> Option<Key<'a>> {
        let short = path::parse(path).filter(|short| !short.preview)?;
        match self.hosts.workspace(host) {
            None => Some(Key::on_main_host(short.place)),
            Some(workspace) => Key::on_own_host(&workspace, short.place),
        }
    }

    /// The checks, in the order of the contract.
    fn admit(&self, entry: &Entry, visitor: Visitor, now: Timestamp) -> Admission {
        match entry.fate.at(self.clock.latest(now)) {
            Decision::NotFound => return Admission::Refuse(Trouble::NotFound),
            Decision::Withheld(reason) => return Admission::Refuse(Trouble::Withheld(reason)),
            Decision::Gone => return Admission::Refuse(Trouble::Gone),
            Decision::Live => {}
        }
        let limit = entry.hit_limit;
        // A link without a limit needs nobody's leave.
        let Some((ledger, held)) = self.shared(entry).filter(|_| limit > 0) else {
            return admit_alone(entry, now, visitor);
        };
        let hit = match visitor {
            Visitor::Person => ledger.take(held, limit),
            Visitor::Other => ledger.look(held, limit),
        };
        hit.map_or(Admission::Ask, |hit| admit_shared(ledger, entry, hit, visitor))
    }

    /// The ledger that all instances share, and what this one holds of the link.
    fn shared<'a>(&'a self, entry: &'a Entry) -> Option<(&'a Ledger, &'a Arc<Reservation>)> {
        Some((self.recorder.ledger()?, entry.cell().reservation()?))
    }

    /// Send the visitor on, or say why not.
    fn conclude(
        &self,
        entry: &Entry,
        admission: Admission,
        visit: Visit,
        asker: impl Fn() -> Asker,
    ) -> Answer {
        match admission {
            Admission::Pass(at) => {
                let answer = answer::redirect(entry);
                self.count(entry, at, visit);
                answer
            }
            Admission::Refuse(trouble) => self.refuse(trouble, asker()),
            Admission::Ask => self.refuse(Trouble::Uncounted, asker()),
        }
    }

    /// Leave the click where it is counted.
    fn count(&self, entry: &Entry, at: Timestamp, visit: Visit) {
        let nanos = u32::try_from(visit.arrival.elapsed().as_nanos()).unwrap_or(u32::MAX);
        let click = Click { link: entry.link(), at, nanos, visitor: visit.visitor };
        self.recorder.count(&self.lane, click);
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &Key<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}

/// This instance keeps the limit.
fn admit_alone(entry: &Entry, now: Timestamp, visitor: Visitor) -> Admission {
    let month = Month::of(now);
    let quota = entry.cell().quota();
    let counted_in = match visitor {
        Visitor::Person => quota.take(month, entry.hit_limit),
        Visitor::Other => quota.has_room(month, entry.hit_limit).then_some(month),
    };
    match counted_in {
        Some(counted_in) => Admission::Pass(counted_at(now, month, counted_in)),
        None => over_limit(now),
    }
}

/// All instances together keep the limit, and go by the ledger's clock.
fn admit_shared(ledger: &Ledger, entry: &Entry, hit: Hit, visitor: Visitor) -> Admission {
    let now = ledger.now();
    match hit {
        Hit::Over => over_limit(now),
        Hit::Away => Admission::Refuse(Trouble::Uncounted),
        Hit::Granted => {
            let month = Month::of(now);
            let counted_in = match visitor {
                // Only counted: it was granted.
                Visitor::Person => entry.cell().quota().take(month, 0).unwrap_or(month),
                Visitor::Other => month,
            };
            Admission::Pass(counted_at(now, month, counted_in))
        }
    }
}

fn over_limit(now: Timestamp) -> Admission {
    Admission::Refuse(Trouble::OverLimit { seconds: Month::seconds_left(now) })
}

/// When a click counts: now, or, where the clock went back over the end of a month, in the month
/// that its hit was counted in.
fn counted_at(now: Timestamp, month: Month, counted_in: Month) -> Timestamp {
    if counted_in == month { now } else { counted_in.start() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_counts_in_the_month_of_its_hit() {
        let july = Timestamp::parse_rfc3339("2026-07-01T00:00:00Z").unwrap();
        let june = Timestamp::parse_rfc3339("2026-06-30T23:59:59.999Z").unwrap();
        let (of_june, of_july) = (Month::of(june), Month::of(july));
        assert_eq!(counted_at(june, of_june, of_june), june);
        assert_eq!(counted_at(july, of_july, of_july), july);
        assert_eq!(counted_at(june, of_june, of_july), july, "the clock went back");
    }
}
