//! The answers of the data plane. All but a redirect are constants: nothing of the request or of
//! the link is echoed. Of the request only what it accepts is looked at: pages, and in which
//! language.

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::cache::CachedLink;
use crate::language::{Language, wants_page};
use crate::redirect::refusal_pages;
use crate::redirect::{RedirectResponse, disabled_pages};
use kurz_core::link::Reason;

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NOTHING_ELSE: HeaderValue = HeaderValue::from_static(refusal_pages::POLICY);
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
/// In an answer that ends its connection, at the place where hyper has it.
const CLOSE: &[u8] = b"connection: close\r\n";
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

/// Say why not, as a page or as a problem.
pub(super) fn refusal(refusal: Refusal, shows: Option<Language>) -> RedirectResponse {
    let (status, problem) = match refusal {
        Refusal::NotFound => (StatusCode::NOT_FOUND, problems::NOT_FOUND),
        Refusal::Gone => (StatusCode::GONE, problems::GONE),
        Refusal::Withheld(reason) => (StatusCode::GONE, disabled_pages::problem(reason)),
        Refusal::OverLimit { .. } => (StatusCode::TOO_MANY_REQUESTS, problems::OVER_LIMIT),
        Refusal::TooManyMisses { .. } => (StatusCode::TOO_MANY_REQUESTS, problems::TOO_MANY_MISSES),
        Refusal::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, problems::UNAVAILABLE),
        Refusal::Uncounted => (StatusCode::SERVICE_UNAVAILABLE, problems::UNCOUNTED),
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
        Refusal::Unavailable | Refusal::Uncounted => {
            insert(headers, header::RETRY_AFTER, 5.into());
        }
        Refusal::NotFound | Refusal::Gone | Refusal::Withheld(_) => {}
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
    pub(super) const METHOD: &str = problem!(
        405,
        "Method Not Allowed",
        "method-not-allowed",
        "A short address can only be asked for with GET or HEAD."
    );
}
