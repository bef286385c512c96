//! The data plane: address → cache → decision → answer.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write. It waits for a
//! read only when the link, or a hit of its quota, is not in memory.

mod answer;
mod date;
mod monthly_limit;
mod refusal_pages;
mod visitor_headers;
mod disabled_pages;

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};

use crate::cache::{CachedLink, Found, Hosts, LinkCache, NearCache};
use crate::clicks::ClickWriter;
use crate::client_address::{ClientAddress, TrustedProxies};
use crate::clock::{Clock, Stopwatch};
use crate::language::Language;
use crate::quota::SharedQuota;
use crate::telemetry::{RequestIds, error_chain};
use crate::throttle::Throttle;
use kurz_core::clicks::{Click, ClickQueue, VisitorKind, Visitors};
use kurz_core::code::{Reserved, short_path};
use kurz_core::limits::Limits;
use kurz_core::link::AddressKey;
use kurz_core::time::Timestamp;

use answer::Refusal;
pub use date::Date;
use monthly_limit::admit_shared;
pub use visitor_headers::visitor_kind;

/// An answer of the data plane: no body, or a small one.
pub type RedirectResponse = Response<Bytes>;

/// Everything a redirect needs. Each worker has its own, and shares what it can.
#[derive(Clone, Debug)]
pub struct RedirectService {
    pub links: Arc<LinkCache>,
    /// The near cache of this worker.
    pub near: Arc<NearCache>,
    pub hosts: Arc<Hosts>,
    /// The quota that instances share; `None` where each link is counted in this process alone.
    pub quota: Option<Arc<SharedQuota>>,
    pub writer: Arc<ClickWriter>,
    /// The click queue of this worker.
    pub queue: Arc<ClickQueue>,
    /// Tells people from bots and prefetches.
    pub visitors: Arc<Visitors>,
    /// The value of the `Date` header.
    pub date: Arc<Date>,
    /// Words that are pages, not codes.
    pub reserved: Arc<Reserved>,
    /// The limit of misses per client.
    pub limits: Arc<Limits>,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub proxies: Arc<TrustedProxies>,
    /// Limits concurrent look-ups of clients that are over their limit of misses.
    pub throttle: Arc<Throttle>,
    pub clock: Clock,
    /// Makes the ids of look-ups that fail.
    pub request_ids: RequestIds,
}

#[derive(Clone, Copy, Debug)]
pub struct RedirectRequest<'a> {
    pub method: &'a Method,
    /// Its host in lower case, without a port.
    pub host: &'a str,
    pub path: &'a str,
    pub headers: &'a HeaderMap,
    pub peer: IpAddr,
    pub arrival: Stopwatch,
}

#[derive(Debug)]
pub enum Verdict {
    Answer(RedirectResponse),
    /// A short address whose link, or a hit of its quota, is not in memory: see
    /// [`RedirectService::answer_miss`].
    Miss(Miss),
    NotMine,
}

/// A request that has to wait for a read.
#[derive(Debug)]
pub struct Miss {
    cause: MissCause,
    visit: Visit,
    context: RefusalContext,
}

#[derive(Debug)]
enum MissCause {
    Link(String),
    /// A hit of the shared quota.
    Hit(CachedLink),
}

/// What a refusal depends on; computed only when there is one.
#[derive(Clone, Copy, Debug)]
struct RefusalContext {
    client: ClientAddress,
    /// The language of the page; `None` for a problem in JSON.
    shows: Option<Language>,
}

/// The kind of visitor, and the time of arrival.
#[derive(Clone, Copy, Debug)]
struct Visit {
    visitor: VisitorKind,
    arrival: Stopwatch,
}

/// The result of the checks. A hit is used only by `Pass`.
#[derive(Clone, Copy, Debug)]
enum Admission {
    /// Redirect; the click counts at this time, and may have used a hit that was reserved in the database.
    Pass { at: Timestamp, reserved: bool },
    /// Do not redirect.
    Refuse(Refusal),
    /// No hit of the shared quota is reserved here: request one first.
    Ask,
}

/// What a redirect needs of a GET on the fast path.
#[derive(Clone, Copy, Debug)]
pub struct PlainRequest<'a> {
    /// The host in lower case, without a port.
    pub host: &'a str,
    pub path: &'a str,
    /// The answer says that the connection ends.
    pub close: bool,
    pub purpose: Option<&'a [u8]>,
    pub agent: Option<&'a [u8]>,
    pub arrival: Stopwatch,
}

impl RedirectService {
    /// The same for another worker, with a near cache and a click queue of its own.
    #[must_use]
    pub fn on_worker(mut self, worker: usize) -> Self {
        self.near = self.links.near();
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
        let found = self.links.get(key.as_str());
        if found.is_some() || !self.is_page(&key) {
            self.near.count_shared(found.is_some());
        }
        let cause = match found {
            Some(Found::Link(link)) => match self.admit(&link, visit.visitor, self.clock.now()) {
                Admission::Ask => MissCause::Hit(link),
                known => return Verdict::Answer(self.conclude(&link, known, visit, context)),
            },
            Some(Found::Absent) => {
                return Verdict::Answer(self.refuse(Refusal::NotFound, context()));
            }
            None if self.reserved.answers_get(key.code()) => return Verdict::NotMine,
            None => MissCause::Link(key.as_str().to_owned()),
        };
        Verdict::Miss(Miss { cause, visit, context: context() })
    }

    /// Write the HTTP/1.1 answer to a GET into `out`, if its link is in memory and redirects. Otherwise
    /// nothing is changed, and [`RedirectService::answer`] is to be called.
    pub fn send_on(&self, ask: &PlainRequest<'_>, out: &mut Vec<u8>) -> bool {
        let Some(key) = self.key(ask.host, ask.path) else { return false };
        let key = key.as_str();
        let behind = || match self.links.get(key)? {
            Found::Link(link) => Some(link),
            Found::Absent => None,
        };
        self.near.with(key, self.links.version(key), behind, |link| {
            let visitor = self.visitors.of_get(ask.purpose, ask.agent);
            let now = self.clock.at(ask.arrival);
            let Admission::Pass { at, reserved } = self.admit(link, visitor, now) else {
                return false;
            };
            self.date.with(now, |date| answer::write_redirect(link, date, ask.close, out));
            self.count(link, at, reserved, Visit { visitor, arrival: ask.arrival });
            true
        })
    }

    /// Write any answer to a GET into `out`, as HTTP/1.1; with `close`, the last of its connection.
    pub fn write(&self, answer: &RedirectResponse, close: bool, out: &mut Vec<u8>) {
        self.date.with(self.clock.now(), |date| answer::write(answer, date, close, out));
    }

    /// Load the link or request a hit, then answer.
    pub async fn answer_miss(&self, miss: Miss) -> RedirectResponse {
        let Miss { cause, visit, context } = miss;
        let link = match cause {
            MissCause::Hit(link) => link,
            MissCause::Link(key) => match self.look_up(&key, context.client).await {
                Ok(Found::Link(link)) => match self.admit(&link, visit.visitor, self.clock.now()) {
                    Admission::Ask => link,
                    known => return self.conclude(&link, known, visit, || context),
                },
                Ok(Found::Absent) => return self.refuse(Refusal::NotFound, context),
                Err(error) => return self.fail(&key, &error, context),
            },
        };
        let admission = match self.shared(&link) {
            None => Admission::Refuse(Refusal::Uncounted),
            Some((quota, held)) => {
                let looks_only = visit.visitor == VisitorKind::Head;
                let hit = quota.ask(held, link.hit_limit, looks_only).await;
                admit_shared(quota, &link, hit, visit.visitor)
            }
        };
        self.conclude(&link, admission, visit, || context)
    }

    /// The link behind a key, from the store. A client that is over its limit of misses is still
    /// looked up for, since its address may be a link's, but only a few of them at a time.
    async fn look_up(&self, key: &str, client: ClientAddress) -> Result<Found, impl Error + use<>> {
        let load = self.links.load(key);
        let is_over_limit = self.limits.is_out_of_misses(client.0, self.clock.steady());
        if is_over_limit { self.throttle.run(load).await } else { load.await }
    }

    /// The look-up failed: log why. Only here does a redirect get a request id, which the answer
    /// carries in its header.
    fn fail(&self, key: &str, error: &dyn Error, context: RefusalContext) -> RedirectResponse {
        let mut answer = self.refuse(Refusal::Unavailable, context);
        let (id, status) = (self.request_ids.make(), answer.status().as_u16());
        let (client, error) = (context.client.0, error_chain(error));
        tracing::error!(request_id = %id, key, %client, status, error, "the redirect failed");
        id.insert_into(answer.headers_mut());
        answer
    }

    /// Answer a refusal. A client over its limit of misses gets 429 instead of 404.
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

    /// The cache key of an address; `None` when it cannot be a link's.
    fn key<'a>(&self, host: &str, path: &'a str) -> Option<AddressKey<'a>> {
        let short = short_path::parse(path).filter(|short| !short.preview)?;
        match self.hosts.workspace(host) {
            None => Some(AddressKey::on_main_host(short.target)),
            Some(workspace) => AddressKey::on_own_host(&workspace, short.target),
        }
    }

    fn conclude(
        &self,
        link: &CachedLink,
        admission: Admission,
        visit: Visit,
        context: impl Fn() -> RefusalContext,
    ) -> RedirectResponse {
        match admission {
            Admission::Pass { at, reserved } => {
                let answer = answer::redirect(link);
                self.count(link, at, reserved, visit);
                answer
            }
            Admission::Refuse(refusal) => self.refuse(refusal, context()),
            Admission::Ask => self.refuse(Refusal::Uncounted, context()),
        }
    }

    fn count(&self, link: &CachedLink, at: Timestamp, reserved: bool, visit: Visit) {
        let Visit { visitor, arrival } = visit;
        if visitor == VisitorKind::Head {
            return;
        }
        let nanos = u32::try_from(arrival.elapsed().as_nanos()).unwrap_or(u32::MAX);
        let click = Click { link: link.link(), at, nanos, visitor, reserved };
        self.writer.count(&self.queue, click);
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &AddressKey<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}
