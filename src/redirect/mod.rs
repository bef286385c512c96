//! The data plane: address → cache → decision → answer.
//!
//! Invariants: it imports neither store nor API nor pages, and never waits for a write, but for the use of a link with
//! a click limit. It waits for a read only when the link, or a hit of its quota, is not in memory.

mod answer;
mod click_details;
mod date;
mod disabled_pages;
mod link_form;
mod link_password;
mod monthly_limit;
mod plan_inputs;
mod plan_pages;
mod planned;
mod refusal_pages;
mod visitor_class;
mod visitor_headers;

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode};

use crate::cache::{CachedLink, Found, Hosts, LinkCache, NearCache};
use crate::clicks::ClickWriter;
use crate::clicks::classify::channel::ChannelTable;
use crate::client_address::{ClientAddress, TrustedProxies};
use crate::clock::{Clock, Stopwatch};
use crate::language::Language;
use crate::quota::{ClickLimits, SharedQuota};
use crate::telemetry::{RequestIds, error_chain};
use crate::throttle::Throttle;
use kurz_core::clicks::{
    Click, ClickFlags, ClickQueue, SeenVisitor, SeenVisitors, VisitorKind, Visitors,
};
use kurz_core::code::{Reserved, short_path};
use kurz_core::limits::Limits;
use kurz_core::link::AddressKey;
use kurz_core::time::Timestamp;

use answer::Refusal;
use click_details::OwnedClickFields;
pub use click_details::{ClickClient, ClickFields, ClickSettings, ConnectionPeer};
pub use date::Date;
pub use link_form::FORM_BYTES;
use link_form::LinkForm;
pub use link_password::PasswordCheck;
use planned::PlannedRequest;
pub use visitor_class::VisitorClasses;
pub use visitor_headers::VisitorHeaders;

/// The field in which programs send the password of a link.
const PASSWORD_FIELD: &str = "x-link-password";

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
    /// What is kept of a click.
    pub clicks: Arc<ClickSettings>,
    /// User agents and places that this worker remembers, for rules of links.
    pub classes: Arc<VisitorClasses>,
    pub channels: Arc<ChannelTable>,
    /// Who was on a link in this period.
    pub seen: Arc<SeenVisitors>,
    pub click_limits: ClickLimits,
    pub passwords: PasswordCheck,
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
    pub query: Option<&'a str>,
    pub headers: &'a HeaderMap,
    pub peer: &'a ConnectionPeer,
    pub arrival: Stopwatch,
}

#[derive(Debug)]
pub enum Verdict {
    Answer(RedirectResponse),
    /// A short address whose link, or a hit of its quota, is not in memory: see
    /// [`RedirectService::answer_miss`].
    Miss(Miss),
    /// A form was sent to a short address: see [`RedirectService::answer_form`].
    Form(Miss),
    NotMine,
}

/// A request that has to wait for a read.
#[derive(Debug)]
pub struct Miss(Box<WaitingRequest>);

/// In one place of memory from beginning to end: it holds the address of the client, which is overwritten when the
/// answer is known. What is moved would stay where it was.
#[derive(Debug)]
struct WaitingRequest {
    cause: MissCause,
    visit: Visit,
    /// Read again for the click, if there is one.
    fields: OwnedClickFields,
    /// The password that a program sent.
    password: Option<Box<[u8]>>,
    context: RefusalContext,
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        self.fields.forget_client();
        self.context.client = ClientAddress::UNKNOWN;
        // Otherwise the compiler leaves out what nobody can read any more.
        std::hint::black_box(self);
    }
}

#[derive(Debug)]
enum MissCause {
    Link(String),
    /// A hit of the shared quota, or a link with a plan.
    Known(CachedLink),
}

/// What a refusal depends on; computed only when there is one.
#[derive(Clone, Copy, Debug)]
struct RefusalContext {
    client: ClientAddress,
    /// The language of the page; `None` for a problem in JSON.
    shows: Option<Language>,
}

/// The visitor, and the time of arrival.
#[derive(Clone, Copy, Debug)]
struct Visit {
    seen: SeenVisitor,
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
    pub path: &'a str,
    /// The answer says that the connection ends.
    pub close: bool,
    pub fields: ClickFields<'a>,
    pub arrival: Stopwatch,
}

impl RedirectService {
    /// The same for another worker, with a near cache and a click queue of its own.
    #[must_use]
    pub fn on_worker(mut self, worker: usize) -> Self {
        self.near = self.links.near();
        self.queue = self.writer.queue(worker);
        self.visitors = Arc::new(self.visitors.with_empty_cache());
        self.classes = Arc::new(self.classes.emptied());
        self.date = Arc::default();
        self
    }

    /// The other end of a connection from `address`.
    pub fn peer(&self, address: IpAddr) -> ConnectionPeer {
        self.clicks.peer(&self.proxies, address)
    }

    /// Answer a request, if it is for a short address and its link is in memory.
    pub fn answer(&self, request: &RedirectRequest<'_>) -> Verdict {
        let RedirectRequest { method, host, path, headers, peer, arrival, .. } = *request;
        let Some(key) = self.key(host, path) else { return Verdict::NotMine };
        let is_form = method == Method::POST && link_form::is_form(headers) && !self.is_page(&key);
        if method != Method::GET && method != Method::HEAD && !is_form {
            return if self.is_page(&key) {
                Verdict::NotMine
            } else {
                Verdict::Answer(answer::method_not_allowed())
            };
        }
        let context = || RefusalContext {
            client: self.proxies.client(peer.address, headers),
            shows: answer::shows(headers),
        };
        let fields = ClickFields::of(&self.clicks, &self.proxies, request);
        // Whoever sends a form is sent on as by a GET.
        let method = if is_form { &Method::GET } else { method };
        let visit = Visit { seen: fields.headers.visitor(&self.visitors, method), arrival };
        let found = self.links.get(key.as_str());
        if found.is_some() || !self.is_page(&key) {
            self.near.count_shared(found.is_some());
        }
        let cause = match found {
            Some(Found::Link(link)) if is_form || link.plan().is_some() => MissCause::Known(link),
            Some(Found::Link(link)) => match self.admit(&link, visit.seen.kind, self.clock.now()) {
                Admission::Ask => MissCause::Known(link),
                known => {
                    let answer = self.conclude(&link, known, visit, &fields, context);
                    return Verdict::Answer(answer);
                }
            },
            Some(Found::Absent) if is_form => {
                return Verdict::Answer(answer::method_not_allowed());
            }
            Some(Found::Absent) => {
                return Verdict::Answer(self.miss(host, key.code(), visit.seen.kind, context()));
            }
            None if self.reserved.answers_get(key.code()) => return Verdict::NotMine,
            None => MissCause::Link(key.as_str().to_owned()),
        };
        let fields = OwnedClickFields::of(&fields);
        let password = headers.get(PASSWORD_FIELD).map(|value| value.as_bytes().into());
        let waiting = WaitingRequest { cause, visit, fields, password, context: context() };
        let miss = Miss(Box::new(waiting));
        if is_form { Verdict::Form(miss) } else { Verdict::Miss(miss) }
    }

    /// Write the HTTP/1.1 answer to a GET into `out`, if its link is in memory and redirects. Otherwise
    /// nothing is changed, and [`RedirectService::answer`] is to be called.
    pub fn send_on(&self, ask: &PlainRequest<'_>, out: &mut Vec<u8>) -> bool {
        let PlainRequest { path, close, fields, arrival } = ask;
        let Some(key) = self.key(fields.host, path) else { return false };
        let key = key.as_str();
        let behind = || match self.links.get(key)? {
            Found::Link(link) => Some(link),
            Found::Absent => None,
        };
        self.near.with(key, self.links.version(key), behind, |link| {
            if let Some(plan) = link.plan() {
                return self.send_planned_on(link, plan, ask, out);
            }
            let seen = self.visitors.of_get(fields.headers.purpose, fields.headers.agent);
            let now = self.clock.at(*arrival);
            let Admission::Pass { at, reserved } = self.admit(link, seen.kind, now) else {
                return false;
            };
            self.date.with(now, |date| answer::write_redirect(link, date, *close, out));
            self.count(link, at, reserved, Visit { seen, arrival: *arrival }, fields);
            true
        })
    }

    /// Write any answer to a GET into `out`, as HTTP/1.1; with `close`, the last of its connection.
    pub fn write(&self, answer: &RedirectResponse, close: bool, out: &mut Vec<u8>) {
        self.date.with(self.clock.now(), |date| answer::write(answer, date, close, out));
    }

    /// Load the link or request a hit, then answer.
    pub async fn answer_miss(&self, miss: Miss) -> RedirectResponse {
        self.answer_waiting(miss, None).await
    }

    /// Answer a form with this body.
    pub async fn answer_form(&self, miss: Miss, body: &[u8]) -> RedirectResponse {
        self.answer_waiting(miss, Some(&LinkForm::read(body))).await
    }

    async fn answer_waiting(&self, miss: Miss, form: Option<&LinkForm>) -> RedirectResponse {
        let WaitingRequest { cause, visit, fields, password, context } = &*miss.0;
        let (visit, kind) = (*visit, visit.seen.kind);
        let link = match cause {
            MissCause::Known(link) => link.clone(),
            MissCause::Link(key) => match self.look_up(key, &context.client).await {
                Ok(Found::Link(link)) => link,
                Ok(Found::Absent) if form.is_some() => return answer::method_not_allowed(),
                Ok(Found::Absent) => {
                    let code = key.rsplit('/').next().unwrap_or_default();
                    return self.miss(fields.borrow().host, code, kind, *context);
                }
                Err(error) => return self.fail(key, &error, *context),
            },
        };
        if let Some(plan) = link.plan() {
            let (fields, password) = (&fields.borrow(), password.as_deref());
            let (context, now) = (*context, self.clock.now());
            let asked = PlannedRequest { visit, fields, context, password, form, now };
            return self.answer_planned(&link, plan, asked).await;
        }
        if form.is_some() {
            return answer::method_not_allowed();
        }
        let admission = match self.admit(&link, kind, self.clock.now()) {
            Admission::Ask => self.ask_hit(&link, kind).await,
            known => known,
        };
        self.conclude(&link, admission, visit, &fields.borrow(), || *context)
    }

    /// The link behind a key, from the store. A client that is over its limit of misses is still
    /// looked up for, since its address may be a link's, but only a few of them at a time.
    async fn look_up(
        &self,
        key: &str,
        client: &ClientAddress,
    ) -> Result<Found, impl Error + use<>> {
        let load = self.links.load(key);
        let is_over_limit = self.limits.is_out_of_misses(client.0, self.clock.steady());
        if is_over_limit { self.throttle.run(load).await } else { load.await }
    }

    /// The look-up failed: log why. Only here does a redirect get a request id, which the answer
    /// carries in its header.
    fn fail(&self, key: &str, error: &dyn Error, context: RefusalContext) -> RedirectResponse {
        let client = context.client.0;
        let mut answer = self.refuse(Refusal::Unavailable, context);
        let (id, status) = (self.request_ids.make(), answer.status().as_u16());
        let error = error_chain(error);
        tracing::error!(request_id = %id, key, %client, status, error, "the redirect failed");
        id.insert_into(answer.headers_mut());
        answer
    }

    /// Answer for an address that leads to no link, and count it if the host is a workspace's own.
    #[cold]
    fn miss(
        &self,
        host: &str,
        code: &str,
        kind: VisitorKind,
        context: RefusalContext,
    ) -> RedirectResponse {
        let answer = self.refuse(Refusal::NotFound, context);
        let is_counted = answer.status() == StatusCode::NOT_FOUND && kind != VisitorKind::Head;
        if let Some(workspace) = self.hosts.workspace(host).filter(|_| is_counted) {
            let path = format!("/{code}");
            self.writer.orphans().add(workspace, host, &path, self.clock.now());
        }
        self.of_host(host, answer)
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

    /// What takes the place of an answer of this host: a 404 is a redirect where the host has an address for it.
    fn of_host(&self, host: &str, answer: RedirectResponse) -> RedirectResponse {
        let is_missing = answer.status() == StatusCode::NOT_FOUND;
        let elsewhere = is_missing.then(|| self.hosts.locations(host).not_found.clone()).flatten();
        elsewhere.map_or(answer, answer::leave)
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
        fields: &ClickFields<'_>,
        context: impl Fn() -> RefusalContext,
    ) -> RedirectResponse {
        let refusal = match admission {
            Admission::Pass { at, reserved } => {
                let answer = answer::redirect(link);
                self.count(link, at, reserved, visit, fields);
                return answer;
            }
            Admission::Refuse(refusal) => refusal,
            Admission::Ask => Refusal::Uncounted,
        };
        self.note_refusal(link, refusal, visit, fields);
        self.of_host(fields.host, self.refuse(refusal, context()))
    }

    fn count(
        &self,
        link: &CachedLink,
        at: Timestamp,
        reserved: bool,
        visit: Visit,
        fields: &ClickFields<'_>,
    ) {
        let flags = ClickFlags::NONE.with_if(ClickFlags::RESERVED, reserved);
        let click = Click { flags, ..Click::new(link.link(), at, 0) };
        self.queue_click(link, click, visit, fields);
    }

    /// Keep for analytics that a known link did not redirect. It counts nowhere.
    fn note_refusal(
        &self,
        link: &CachedLink,
        refusal: Refusal,
        visit: Visit,
        fields: &ClickFields<'_>,
    ) {
        self.note_answer(link, refusal.of_link(), refusal.rule(), visit, fields);
    }

    #[inline]
    fn queue_click(
        &self,
        link: &CachedLink,
        mut click: Click,
        visit: Visit,
        fields: &ClickFields<'_>,
    ) {
        let Visit { seen, arrival } = visit;
        if seen.kind == VisitorKind::Head {
            return;
        }
        click.nanos = u32::try_from(arrival.elapsed().as_nanos()).unwrap_or(u32::MAX);
        let fields = link.details.then_some(fields);
        self.clicks.queue(click, seen, self.visitors.seed(), fields, |click, details| {
            self.writer.count(&self.queue, click, details);
        });
    }

    /// Whether the address is a page's or an endpoint's.
    fn is_page(&self, key: &AddressKey<'_>) -> bool {
        self.reserved.contains(key.code())
    }
}
