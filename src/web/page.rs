//! What all pages have in common: the headers that keep a page to itself.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

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
