//! The data plane: address → cache → decision → answer. Nothing else stands between a visitor and
//! a target.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write. It answers
//! what it knows at once, and only for what it does not know does it wait, for a read.

mod answer;
mod date;
mod address_key;
mod pages;
mod visitor_kind;
mod withheld_pages;

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};

use crate::cache::{CachedLink, Found, Hosts, LinkCache, NearCache};
use crate::clicks::ClickWriter;
use crate::client_address::{ClientAddress, TrustedProxies};
use crate::clock::{Clock, Stopwatch};
use crate::quota::{HitOutcome, LinkReservation, SharedQuota};
use crate::throttle::Throttle;
use kurz_core::clicks::{Click, ClickQueue, VisitorKind, Visitors};
use kurz_core::code::{Reserved, path};
use kurz_core::limits::Limits;
use kurz_core::link::{Decision, Month};
use kurz_core::time::Timestamp;

use address_key::AddressKey;
use answer::Refusal;
pub use date::Date;
use pages::Language;
pub use visitor_kind::visitor_kind;

/// An answer of the data plane: no body, or a small one.
pub type RedirectResponse = Response<Bytes>;

/// Everything a redirect needs. Each worker has its own, and shares what it can.
#[derive(Clone, Debug)]
pub struct RedirectService {
    /// Links by address.
    pub links: Arc<LinkCache>,
    /// Those that this worker sent visitors to lately.
    pub near: Arc<NearCache>,
    /// Hosts of workspaces.
    pub hosts: Arc<Hosts>,
    /// The quota that instances share; `None` where each link is counted in this process alone.
    pub quota: Option<Arc<SharedQuota>>,
    /// Writes clicks to the store.
    pub writer: Arc<ClickWriter>,
    /// The click queue of this worker.
    pub queue: Arc<ClickQueue>,
    /// Tells people from others.
    pub visitors: Arc<Visitors>,
    /// What the day is called in an answer.
    pub date: Arc<Date>,
    /// Words that are pages, not codes.
    pub reserved: Arc<Reserved>,
    /// How often somebody may ask for what does not exist.
    pub limits: Arc<Limits>,
    /// Whose word on addresses counts.
    pub proxies: Arc<TrustedProxies>,
    /// Turns for those who asked for too much that does not exist.
    pub throttle: Arc<Throttle>,
    /// What time it is.
    pub clock: Clock,
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct RedirectRequest<'a> {
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
    Answer(RedirectResponse),
    /// It is a short address, but its link is not in memory, or none of its hits is: see
    /// [`RedirectService::answer_miss`].
    Miss(Miss),
    /// Not a short address.
    NotMine,
}

/// A request for which something has to be asked first.
#[derive(Debug)]
pub struct Miss {
    cause: MissCause,
    visit: Visit,
    context: RefusalContext,
}

/// What a request waits for.
#[derive(Debug)]
enum MissCause {
    /// The link behind a key.
    Link(String),
    /// A hit of a link whose instances count together.
    Hit(CachedLink),
}

/// What a refusal goes by. It is worked out only for one.
#[derive(Clone, Copy, Debug)]
struct RefusalContext {
    client: ClientAddress,
    /// In which language they are shown a page, if they are.
    shows: Option<Language>,
}

/// Who asked, and when.
#[derive(Clone, Copy, Debug)]
struct Visit {
    visitor: VisitorKind,
    arrival: Stopwatch,
}

/// What the checks say of a visit. A hit is used up only where it may pass.
#[derive(Clone, Copy, Debug)]
enum Admission {
    /// It may pass; its click counts at this time.
    Pass(Timestamp),
    /// It may not.
    Refuse(Refusal),
    /// Nothing is known of the link's hits without asking.
    Ask,
}

/// All that a redirect looks at, of a GET as it came over the wire.
#[derive(Clone, Copy, Debug)]
pub struct PlainRequest<'a> {
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

impl RedirectService {
    /// The same for another worker: it leaves its clicks in a lane of its own.
    #[must_use]
    pub fn on_worker(mut self, worker: usize) -> Self {
        self.near = Arc::new(self.links.near());
        self.queue = self.writer.queue(worker);
        self.visitors = Arc::new(self.visitors.with_empty_cache());
        self.date = Arc::default();
        self
    }

    /// Answer a request, if it is for a short address and its link is in memory.
    pub fn answer(&self, request: &RedirectRequest<'_>) -> Verdict {
        let RedirectRequest { method, host, path, headers, peer, arrival } = *request;
        let Some(key) = self.key(host, path) else { return Verdict::NotMine };
        if method != Method::GET && method != Method::HEAD {
            return if self.is_page(&key) {
                Verdict::NotMine
            } else {
                Verdict::Answer(answer::method_not_allowed())
            };
        }
        let context = || RefusalContext {
            client: self.proxies.client(peer, headers),
            shows: answer::shows(headers),
        };
        let visit = Visit { visitor: visitor_kind(&self.visitors, method, headers), arrival };
        let cause = match self.links.get(key.as_str()) {
            Some(Found::Link(link)) => match self.admit(&link, visit.visitor, self.clock.now()) {
                Admission::Ask => MissCause::Hit(link),
                known => return Verdict::Answer(self.conclude(&link, known, visit, context)),
            },
            Some(Found::Absent) => {
                return Verdict::Answer(self.refuse(Refusal::NotFound, context()));
            }
            None if self.is_page(&key) => return Verdict::NotMine,
            None => MissCause::Link(key.as_str().to_owned()),
        };
        Verdict::Miss(Miss { cause, visit, context: context() })
    }

    /// Put the answer to a GET into `out`, as HTTP/1.1 has it, if its link is in memory and sends the
    /// visitor on. Otherwise nothing has happened: all else is for [`RedirectService::answer`].
    pub fn send_on(&self, ask: &PlainRequest<'_>, out: &mut Vec<u8>) -> bool {
        let Some(key) = self.key(ask.host, ask.path) else { return false };
        let key = key.as_str();
        let behind = || match self.links.get(key)? {
            Found::Link(link) => Some(link),
            Found::Absent => None,
        };
        let sent = self.near.with(key, self.links.version(key), behind, |link| {
            let visitor = self.visitors.of_get(ask.purpose, ask.agent);
            let now = self.clock.at(ask.arrival);
            let Admission::Pass(at) = self.admit(link, visitor, now) else { return false };
            self.date.with(now, |date| answer::write_redirect(link, date, out));
            self.count(link, at, Visit { visitor, arrival: ask.arrival });
            true
        });
        sent == Some(true)
    }

    /// Put any answer to a GET into `out`, as HTTP/1.1 has it.
    pub fn write(&self, answer: &RedirectResponse, out: &mut Vec<u8>) {
        self.date.with(self.clock.now(), |date| answer::write(answer, date, out));
    }

    /// Read the link, or ask for a hit, then answer.
    pub async fn answer_miss(&self, miss: Miss) -> RedirectResponse {
        let Miss { cause, visit, context } = miss;
        let link = match cause {
            MissCause::Hit(link) => link,
            MissCause::Link(key) => match self.look_up(&key, context.client).await {
                Some(Found::Link(link)) => {
                    match self.admit(&link, visit.visitor, self.clock.now()) {
                        Admission::Ask => link,
                        known => return self.conclude(&link, known, visit, || context),
                    }
                }
                Some(Found::Absent) => return self.refuse(Refusal::NotFound, context),
                None => return self.refuse(Refusal::Unavailable, context),
            },
        };
        let admission = match self.shared(&link) {
            None => Admission::Refuse(Refusal::Uncounted),
            Some((quota, held)) => {
                let looks_only = visit.visitor == VisitorKind::Other;
                let hit = quota.ask(held, link.hit_limit, looks_only).await;
                admit_shared(quota, &link, hit, visit.visitor)
            }
        };
        self.conclude(&link, admission, visit, || context)
    }

    /// What is behind a key; `None` when that cannot be told. Whether there is a link is not known before
    /// it was looked for, and whoever follows one is served, however much that does not exist they
    /// asked for before: only, those wait for each other.
    async fn look_up(&self, key: &str, client: ClientAddress) -> Option<Found> {
        let load = self.links.load(key);
        let is_late = self.limits.is_out_of_misses(client.0, self.clock.steady());
        let found = if is_late { self.throttle.run(load).await } else { load.await };
        found.inspect_err(|error| tracing::warn!(%error, "a redirect could not be looked up")).ok()
    }

    /// Say why not. Who was told too often that there is nothing is told that instead.
    fn refuse(&self, refusal: Refusal, context: RefusalContext) -> RedirectResponse {
        let missed = || self.limits.miss(context.client.0, self.clock.steady());
        let refusal = match refusal {
            Refusal::NotFound => missed().err().map_or(Refusal::NotFound, |limited| {
                Refusal::TooManyMisses { seconds: limited.wait.seconds() }
            }),
            other => other,
        };
        answer::refusal(refusal, context.shows)
    }

    /// Where the link of an address is looked for; `None` when it is no link's address.
    fn key<'a>(&self, host: &str, path: &'a str) -> Option<AddressKey<'a>> {
        let short = path::parse(path).filter(|short| !short.preview)?;
        match self.hosts.workspace(host) {
            None => Some(AddressKey::on_main_host(short.target)),
            Some(workspace) => AddressKey::on_own_host(&workspace, short.target),
        }
    }

    /// The checks, in the order of the contract.
    fn admit(&self, link: &CachedLink, visitor: VisitorKind, now: Timestamp) -> Admission {
        match link.validity.at(self.clock.latest(now)) {
            Decision::NotFound => return Admission::Refuse(Refusal::NotFound),
            Decision::Withheld(reason) => return Admission::Refuse(Refusal::Withheld(reason)),
            Decision::Gone => return Admission::Refuse(Refusal::Gone),
            Decision::Live => {}
        }
        let limit = link.hit_limit;
        // A link without a limit needs nobody's leave.
        let Some((quota, held)) = self.shared(link).filter(|_| limit > 0) else {
            return admit_alone(link, now, visitor);
        };
        let hit = match visitor {
            VisitorKind::Person => quota.take(held, limit),
            VisitorKind::Other => quota.look(held, limit),
        };
        hit.map_or(Admission::Ask, |hit| admit_shared(quota, link, hit, visitor))
    }

    /// The quota that all instances share, and what this one holds of the link.
    fn shared<'a>(
        &'a self,
        link: &'a CachedLink,
    ) -> Option<(&'a SharedQuota, &'a Arc<LinkReservation>)> {
        Some((self.quota.as_deref()?, link.counters().reservation()?))
    }

    /// Send the visitor on, or say why not.
    fn conclude(
        &self,
        link: &CachedLink,
        admission: Admission,
        visit: Visit,
        context: impl Fn() -> RefusalContext,
    ) -> RedirectResponse {
        match admission {
            Admission::Pass(at) => {
                let answer = answer::redirect(link);
                self.count(link, at, visit);
                answer
            }
            Admission::Refuse(refusal) => self.refuse(refusal, context()),
            Admission::Ask => self.refuse(Refusal::Uncounted, context()),
        }
    }

    /// Leave the click where it is counted.
    fn count(&self, link: &CachedLink, at: Timestamp, visit: Visit) {
        let nanos = u32::try_from(visit.arrival.elapsed().as_nanos()).unwrap_or(u32::MAX);
        let click = Click { link: link.link(), at, nanos, visitor: visit.visitor };
        self.writer.count(&self.queue, click);
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &AddressKey<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}

/// This instance keeps the limit.
fn admit_alone(link: &CachedLink, now: Timestamp, visitor: VisitorKind) -> Admission {
    let month = Month::of(now);
    let quota = link.counters().quota();
    let counted_in = match visitor {
        VisitorKind::Person => quota.take(month, link.hit_limit),
        VisitorKind::Other => quota.has_room(month, link.hit_limit).then_some(month),
    };
    match counted_in {
        Some(counted_in) => Admission::Pass(counted_at(now, month, counted_in)),
        None => over_limit(now),
    }
}

/// All instances together keep the limit, and go by the quota's clock.
fn admit_shared(
    quota: &SharedQuota,
    link: &CachedLink,
    hit: HitOutcome,
    visitor: VisitorKind,
) -> Admission {
    let now = quota.now();
    match hit {
        HitOutcome::Over => over_limit(now),
        HitOutcome::Away => Admission::Refuse(Refusal::Uncounted),
        HitOutcome::Granted => {
            let month = Month::of(now);
            let counted_in = match visitor {
                // Only counted: it was granted.
                VisitorKind::Person => link.counters().quota().take(month, 0).unwrap_or(month),
                VisitorKind::Other => month,
            };
            Admission::Pass(counted_at(now, month, counted_in))
        }
    }
}

fn over_limit(now: Timestamp) -> Admission {
    Admission::Refuse(Refusal::OverLimit { seconds: Month::seconds_left(now) })
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
