//! What all pages have in common: the headers that keep a page to itself, and the page for an
//! address that is nothing.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::problem::Problem;

/// Nothing from elsewhere, no scripts, in nobody's frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// A page.
pub(super) fn html(status: StatusCode, body: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, body).into_response()
}

#[derive(Template)]
#[template(path = "missing.html")]
struct MissingPage;

/// There is nothing here: a page for browsers, a problem for others.
pub(super) fn nothing(headers: &HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_browser = accept.is_some_and(|accept| accept.to_ascii_lowercase().contains("text/html"));
    let page = is_browser.then(|| MissingPage.render().ok()).flatten();
    page.map_or_else(
        || {
            let detail = "There is nothing at this address.";
            Problem::new(StatusCode::NOT_FOUND, "not-found", detail).into_response()
        },
        |page| html(StatusCode::NOT_FOUND, page),
    )
}
