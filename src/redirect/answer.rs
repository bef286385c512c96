//! The answers of the data plane. All but a redirect are constants: nothing of the request or of
//! the link is echoed. Of the request only what it accepts is looked at: pages, and in which
//! language.

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::cache::CachedLink;
use crate::language::{Language, wants_page};
use crate::redirect::planned::RedirectHead;
use crate::redirect::{RedirectResponse, disabled_pages, plan_pages, refusal_pages};
use kurz_core::clicks::ClickAnswer;
use kurz_core::link::Reason;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NOTHING_ELSE: HeaderValue = HeaderValue::from_static(refusal_pages::POLICY);
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
/// In an answer that ends its connection, at the place where hyper has it.
const CLOSE: &[u8] = b"connection: close\r\n";
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const NO_INDEX: HeaderValue = HeaderValue::from_static("noindex");
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
/// No scheme that a browser would ask for a name with.
const ASK_PASSWORD: HeaderValue = HeaderValue::from_static("X-Link-Password");
const GET_HEAD: HeaderValue = HeaderValue::from_static("GET, HEAD");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    NotFound,
    Gone,
    Withheld(Reason),
    OverLimit {
        seconds: i64,
    },
    /// Too much that does not exist was asked for from there.
    TooManyMisses {
        seconds: u32,
    },
    Unavailable,
    /// Nobody can say whether the link's limit is used up.
    Uncounted,
    /// The time of the link has not begun.
    NotYet,
    /// The link was followed as often as it may be.
    UsedUp,
    /// A rule of the link says so: 403, 404 or 451.
    Blocked {
        status: u16,
        /// From 1 on.
        rule: u8,
    },
    PasswordMissing,
    PasswordWrong,
    TooManyPasswords {
        seconds: u32,
    },
    /// Too many passwords are being compared.
    Busy,
}

impl Refusal {
    /// What the visitor of a known link was answered.
    pub(super) fn of_link(self) -> ClickAnswer {
        match self {
            Self::NotFound | Self::NotYet | Self::TooManyMisses { .. } => ClickAnswer::NotFound,
            Self::Gone | Self::UsedUp => ClickAnswer::Gone,
            Self::Withheld(_) => ClickAnswer::Blocked,
            Self::OverLimit { .. } => ClickAnswer::OverLimit,
            Self::Unavailable | Self::Uncounted => ClickAnswer::Unavailable,
            Self::Blocked { .. } => ClickAnswer::Refused,
            Self::PasswordMissing
            | Self::PasswordWrong
            | Self::TooManyPasswords { .. }
            | Self::Busy => ClickAnswer::Password,
        }
    }

    /// The rule of the link that refused, from 1 on.
    pub(super) fn rule(self) -> u8 {
        match self {
            Self::Blocked { rule, .. } => rule,
            _ => 0,
        }
    }
}

pub(super) fn redirect(link: &CachedLink) -> RedirectResponse {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = link.status;
    let headers = response.headers_mut();
    let location = HeaderValue::from_bytes(link.location());
    headers.insert(header::LOCATION, location.expect("the cache keeps none that is unfit"));
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    response
}

/// The redirect of a link with a plan.
pub(super) fn planned(head: &RedirectHead<'_>) -> RedirectResponse {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = head.status;
    let headers = response.headers_mut();
    // Compiled plans write nothing that is unfit for a header.
    if let Ok(location) = HeaderValue::from_bytes(head.location) {
        headers.insert(header::LOCATION, location);
    }
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    if !head.is_indexed {
        headers.insert(ROBOTS, NO_INDEX);
    }
    if head.is_protected {
        headers.insert(header::REFERRER_POLICY, NO_REFERRER);
    }
    response
}

/// The same in the bytes of HTTP/1.1.
pub(super) fn write_planned(head: &RedirectHead<'_>, date: &str, close: bool, out: &mut Vec<u8>) {
    write_status(head.status, out);
    write_field("location", head.location, out);
    out.extend_from_slice(b"cache-control: no-store\r\n");
    if !head.is_indexed {
        out.extend_from_slice(b"x-robots-tag: noindex\r\n");
    }
    if head.is_protected {
        out.extend_from_slice(b"referrer-policy: no-referrer\r\n");
    }
    if close {
        out.extend_from_slice(CLOSE);
    }
    out.extend_from_slice(b"content-length: 0\r\n");
    write_field("date", date.as_bytes(), out);
    out.extend_from_slice(b"\r\n");
}

/// A page of a link with a plan.
pub(super) fn page(status: StatusCode, page: String) -> RedirectResponse {
    let mut response = Response::new(Bytes::from(page));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HTML);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    let policy = const { HeaderValue::from_static(plan_pages::FORM_POLICY) };
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::REFERRER_POLICY, NO_REFERRER);
    let vary = const { HeaderValue::from_static("accept, accept-language, user-agent") };
    headers.insert(header::VARY, vary);
    headers.insert(ROBOTS, NO_INDEX);
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, ASK_PASSWORD);
    }
    response
}

/// To where unknown codes of a host lead.
pub(super) fn leave(location: HeaderValue) -> RedirectResponse {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::FOUND;
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    response
}

/// Say why not, as a page or as a problem.
pub(super) fn refusal(refusal: Refusal, shows: Option<Language>) -> RedirectResponse {
    let (status, problem) = match refusal {
        Refusal::NotFound | Refusal::Blocked { status: 404, .. } => {
            (StatusCode::NOT_FOUND, problems::NOT_FOUND)
        }
        Refusal::Gone => (StatusCode::GONE, problems::GONE),
        Refusal::Withheld(reason) => (StatusCode::GONE, disabled_pages::problem(reason)),
        Refusal::OverLimit { .. } => (StatusCode::TOO_MANY_REQUESTS, problems::OVER_LIMIT),
        Refusal::TooManyMisses { .. } => (StatusCode::TOO_MANY_REQUESTS, problems::TOO_MANY_MISSES),
        Refusal::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, problems::UNAVAILABLE),
        Refusal::Uncounted => (StatusCode::SERVICE_UNAVAILABLE, problems::UNCOUNTED),
        Refusal::NotYet => (StatusCode::NOT_FOUND, problems::NOT_YET),
        Refusal::UsedUp => (StatusCode::GONE, problems::USED_UP),
        Refusal::Blocked { status: 451, .. } => {
            (StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS, problems::BLOCKED_LEGALLY)
        }
        Refusal::Blocked { .. } => (StatusCode::FORBIDDEN, problems::BLOCKED),
        Refusal::PasswordMissing => (StatusCode::UNAUTHORIZED, problems::PASSWORD_MISSING),
        Refusal::PasswordWrong => (StatusCode::UNAUTHORIZED, problems::PASSWORD_WRONG),
        Refusal::TooManyPasswords { .. } => {
            (StatusCode::TOO_MANY_REQUESTS, problems::TOO_MANY_PASSWORDS)
        }
        Refusal::Busy => (StatusCode::SERVICE_UNAVAILABLE, problems::BUSY),
    };
    let body = shows.map_or(problem, |language| refusal_pages::page(refusal, language));
    let mut response = Response::new(Bytes::from_static(body.as_bytes()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, if shows.is_some() { HTML } else { PROBLEM });
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    headers.insert(header::CONTENT_SECURITY_POLICY, NOTHING_ELSE);
    headers.insert(header::REFERRER_POLICY, const { HeaderValue::from_static("no-referrer") });
    headers.insert(header::VARY, const { HeaderValue::from_static("accept, accept-language") });
    match refusal {
        Refusal::OverLimit { seconds } => insert(headers, header::RETRY_AFTER, seconds.into()),
        Refusal::TooManyMisses { seconds } => insert(headers, header::RETRY_AFTER, seconds.into()),
        Refusal::TooManyPasswords { seconds } => {
            insert(headers, header::RETRY_AFTER, seconds.into());
        }
        Refusal::Unavailable | Refusal::Uncounted | Refusal::Busy => {
            insert(headers, header::RETRY_AFTER, 5.into());
        }
        Refusal::PasswordMissing | Refusal::PasswordWrong => {
            insert(headers, header::WWW_AUTHENTICATE, ASK_PASSWORD);
        }
        Refusal::NotFound
        | Refusal::Gone
        | Refusal::Withheld(_)
        | Refusal::NotYet
        | Refusal::UsedUp
        | Refusal::Blocked { .. } => {}
    }
    response
}

/// A short address only gives.
pub(super) fn method_not_allowed() -> RedirectResponse {
    let mut response = Response::new(Bytes::from_static(problems::METHOD.as_bytes()));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    insert(response.headers_mut(), header::ALLOW, GET_HEAD);
    insert(response.headers_mut(), header::CONTENT_TYPE, PROBLEM);
    response
}

/// The language of a visitor whose browser shows pages; `None` for other clients.
pub(super) fn shows(headers: &HeaderMap) -> Option<Language> {
    let header = |name| headers.get(name).map_or(&[][..], HeaderValue::as_bytes);
    let page = wants_page(header(header::ACCEPT));
    page.then(|| Language::accepted(header(header::ACCEPT_LANGUAGE)))
}

/// Any answer to a GET, in the bytes that HTTP/1.1 has for it.
pub(super) fn write(answer: &RedirectResponse, date: &str, close: bool, out: &mut Vec<u8>) {
    write_status(answer.status(), out);
    for (name, value) in answer.headers() {
        write_field(name.as_str(), value.as_bytes(), out);
    }
    if close {
        out.extend_from_slice(CLOSE);
    }
    let body = answer.body();
    write_field("content-length", body.len().to_string().as_bytes(), out);
    write_field("date", date.as_bytes(), out);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
}

pub(super) fn write_redirect(link: &CachedLink, date: &str, close: bool, out: &mut Vec<u8>) {
    write_status(link.status, out);
    write_field("location", link.location(), out);
    out.extend_from_slice(b"cache-control: no-store\r\n");
    if close {
        out.extend_from_slice(CLOSE);
    }
    out.extend_from_slice(b"content-length: 0\r\n");
    write_field("date", date.as_bytes(), out);
    out.extend_from_slice(b"\r\n");
}

fn write_status(status: StatusCode, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_field(name: &str, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    headers.insert(name, value);
}

macro_rules! problem {
    ($status:literal, $title:literal, $code:literal, $detail:literal) => {
        concat!(
            r#"{"type":"about:blank","title":""#,
            $title,
            r#"","status":"#,
            $status,
            r#","code":""#,
            $code,
            r#"","detail":""#,
            $detail,
            r#""}"#
        )
    };
}
pub(super) use problem;

mod problems {
    pub(super) const NOT_FOUND: &str =
        problem!(404, "Not Found", "link-not-found", "There is no link at this address.");
    pub(super) const GONE: &str = problem!(410, "Gone", "link-expired", "This link has expired.");
    pub(super) const OVER_LIMIT: &str = problem!(
        429,
        "Too Many Requests",
        "hit-limit-reached",
        "This link has been followed as often as it may be this month. Try again next month."
    );
    pub(super) const TOO_MANY_MISSES: &str = problem!(
        429,
        "Too Many Requests",
        "too-many-requests",
        "Too many addresses that do not exist were asked for. Links that exist still work."
    );
    pub(super) const UNAVAILABLE: &str = problem!(
        503,
        "Service Unavailable",
        "store-unavailable",
        "The link cannot be looked up right now. Try again in a few seconds."
    );
    pub(super) const UNCOUNTED: &str = problem!(
        503,
        "Service Unavailable",
        "counters-unavailable",
        "How often this link may still be followed cannot be told right now. Try again in a few seconds."
    );
    pub(super) const NOT_YET: &str =
        problem!(404, "Not Found", "link-not-yet", "The time of this link has not begun.");
    pub(super) const USED_UP: &str =
        problem!(410, "Gone", "link-used-up", "This link has been followed as often as it may be.");
    pub(super) const BLOCKED: &str =
        problem!(403, "Forbidden", "link-blocked", "This link is not meant for you.");
    pub(super) const BLOCKED_LEGALLY: &str = problem!(
        451,
        "Unavailable For Legal Reasons",
        "link-blocked-legally",
        "This link is not available where you are, for legal reasons."
    );
    pub(super) const PASSWORD_MISSING: &str = problem!(
        401,
        "Unauthorized",
        "link-password-missing",
        "This link needs a password: send it in the field X-Link-Password."
    );
    pub(super) const PASSWORD_WRONG: &str =
        problem!(401, "Unauthorized", "link-password-wrong", "This password is not right.");
    pub(super) const TOO_MANY_PASSWORDS: &str = problem!(
        429,
        "Too Many Requests",
        "too-many-requests",
        "Too many passwords were tried for this link. Wait, and try again."
    );
    pub(super) const BUSY: &str = problem!(
        503,
        "Service Unavailable",
        "busy",
        "Too many passwords are being compared right now. Try again in a few seconds."
    );
    pub(super) const METHOD: &str = problem!(
        405,
        "Method Not Allowed",
        "method-not-allowed",
        "A short address can only be asked for with GET or HEAD."
    );
}
