//! What all pages share: the layout, the security headers, and the error pages.

use std::num::NonZeroU32;

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::app::{App, Person};
use crate::language::{self, Language};
use crate::problem::Problem;
use crate::telemetry::{RequestId, current_request_id};
use crate::web::assets;
use crate::web::i18n::Words;
use crate::web::visitor::{Visitor, words_of};
use kurz_core::time::Timestamp;

/// Nothing is loaded from other servers, only our script runs, no text becomes markup, and no site may frame a page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'",
);

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) words: &'static Words,
    pub(super) person: Option<Person>,
    pub(super) is_open: bool,
    /// The page to return to after a language is chosen.
    pub(super) path: String,
    pub(super) note: Option<Note>,
    /// Where its style, script and icon are.
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) icon: &'static str,
    pub(super) languages: [Language; 3],
}

/// What just happened, and perhaps a way to undo it.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) undo: Option<String>,
}

impl Note {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), undo: None }
    }
}

impl Layout {
    pub(super) fn new(app: &App, visitor: &Visitor) -> Self {
        Self {
            person: visitor.browser.as_ref().map(|browser| browser.person.clone()),
            is_open: app.policy().open,
            path: visitor.path.clone(),
            ..Self::bare(visitor.words())
        }
    }

    /// The same page with a note on top.
    pub(super) fn noting(self, note: Option<Note>) -> Self {
        Self { note, ..self }
    }

    /// Without anybody: for what goes wrong before it is known who asks.
    pub(super) fn bare(words: &'static Words) -> Self {
        Self {
            words,
            person: None,
            is_open: false,
            path: "/".to_owned(),
            note: None,
            style: assets::style(),
            script: assets::script(),
            icon: assets::icon(),
            languages: Language::ALL,
        }
    }

    /// Whether the visitor may go on to links, workspaces and the rest.
    pub(super) const fn is_inside(&self) -> bool {
        self.person.is_some() || self.is_open
    }

    pub(super) fn is_admin(&self) -> bool {
        self.is_open || self.person.as_ref().is_some_and(|person| person.is_admin)
    }
}

pub(super) fn show(template: &impl Template) -> Response {
    show_with(StatusCode::OK, template)
}

/// The status of a page, and when to try again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageStatus {
    pub(super) status: StatusCode,
    /// After how many seconds to try again.
    pub(super) retry_after: Option<NonZeroU32>,
}

impl From<StatusCode> for PageStatus {
    fn from(status: StatusCode) -> Self {
        Self { status, retry_after: None }
    }
}

pub(super) fn show_with(manner: impl Into<PageStatus>, template: &impl Template) -> Response {
    let PageStatus { status, retry_after } = manner.into();
    match template.render() {
        Ok(body) => {
            let mut response = html(status, body);
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.get().into());
            }
            response
        }
        Err(error) => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            tracing::error!(status = status.as_u16(), %error, "the request failed: a template");
            let detail = "Something went wrong on the server. It has been logged.";
            Problem::new(status, "internal-error", detail).into_response()
        }
    }
}

pub(super) fn html(status: StatusCode, body: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, body).into_response()
}

#[derive(Template)]
#[template(path = "trouble.html")]
struct TroublePage<'a> {
    page: Layout,
    title: &'a str,
    text: &'a str,
    request_id: Option<RequestId>,
}

/// A page that says what went wrong.
pub(super) fn trouble(page: Layout, status: StatusCode, title: &str, text: &str) -> Response {
    let request_id = current_request_id();
    show_with(status, &TroublePage { page, title, text, request_id })
}

/// Whether the visitor is a browser that shows pages.
pub(super) fn wants_page(headers: &HeaderMap) -> bool {
    language::wants_page(headers.get(header::ACCEPT).map_or(&[][..], HeaderValue::as_bytes))
}

/// There is nothing here: a page for browsers, a problem for others.
pub(super) fn nothing(headers: &HeaderMap) -> Response {
    nothing_in(headers, Layout::bare(words_of(headers)))
}

/// The same in a layout that knows the visitor.
pub(super) fn nothing_in(headers: &HeaderMap, layout: Layout) -> Response {
    if !wants_page(headers) {
        let detail = "There is nothing at this address.";
        return Problem::new(StatusCode::NOT_FOUND, "not-found", detail).into_response();
    }
    let trouble_words = &layout.words.trouble;
    let (title, text) = (trouble_words.not_found, trouble_words.not_found_text);
    trouble(layout, StatusCode::NOT_FOUND, title, text)
}

/// A time for people: to the minute, in UTC.
pub(super) fn time(at: Timestamp) -> String {
    let text = at.to_rfc3339();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date} {} UTC", time.get(..5).unwrap_or_default())
}

/// The same inside of a sentence, where it stays on one line.
pub(super) fn unbroken_time(at: Timestamp) -> String {
    time(at).replace('-', "\u{2011}").replace(' ', "\u{a0}")
}

/// A number with spaces between thousands, which no language reads as a decimal point.
pub(super) fn number(number: impl TryInto<i64>) -> String {
    let digits = number.try_into().unwrap_or(i64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && !text.ends_with('-') {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Milliseconds, to three digits.
pub(super) fn milliseconds(ms: f64) -> String {
    if ms < 1.0 { format!("{ms:.3} ms") } else { format!("{ms:.1} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_for_people() {
        let table = [
            (0, "0"),
            (999, "999"),
            (1000, "1\u{202f}000"),
            (1_234_567, "1\u{202f}234\u{202f}567"),
        ];
        for (value, text) in table {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(-1000), "-1\u{202f}000");
        assert_eq!(time(Timestamp::from_ms(1_773_576_000_000)), "2026-03-15 12:00 UTC");
        assert_eq!(milliseconds(0.01234), "0.012 ms");
        assert_eq!(milliseconds(12.34), "12.3 ms");
    }
}
