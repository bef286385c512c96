//! Middleware before every page: pages are served on the main host only, and requests that change something
//! must come from a page of this server (CSRF).
//!
//! Invariant: no unsafe method reaches a page unless `Origin` or `Sec-Fetch-Site` says that the request comes
//! from here, and neither says otherwise. The cookie's `SameSite=Lax` alone is not relied on.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, StatusCode, header};

use crate::app::App;
use crate::problem::Problem;
use crate::web::analytics::privacy;
use crate::web::errors::{self, PageError};
use crate::web::page::Layout;
use crate::web::preview::{HostOfRequest, leave};
use crate::web::visitor::{Visitor, words_of};
use crate::web::{assets, page, report};

/// The files of a host for apps.
const WELL_KNOWN: &str = "/.well-known/";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers().clone();
    let host = request.extensions().get::<HostOfRequest>().map_or("", |host| host.0.as_str());
    let everywhere =
        [assets::FOLDER, report::PATH, privacy::PATH, "/robots.txt", WELL_KNOWN, "/api/"];
    let everywhere = everywhere.iter().any(|start| request.uri().path().starts_with(start));
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read
        && request.uri().path() == "/"
        && let Some(location) = app.home_location(host)
    {
        return leave(location);
    }
    if !everywhere && app.workspace_of_host(host).is_some() {
        let is_home = request.uri().path() == "/";
        let elsewhere = app.missing_page_location(host).filter(|_| is_read && !is_home);
        return elsewhere.map_or_else(|| page::nothing(&headers), leave);
    }
    if !request.method().is_safe() && comes_from(&request, &app) != Some(true) {
        let detail = "The request did not come from one of the server's own pages.";
        let refused = PageError::from(Problem::new(StatusCode::FORBIDDEN, "csrf", detail));
        return errors::dress(refused.into_response(), &headers);
    }
    let (parts, body) = request.into_parts();
    let asked = parts.clone();
    let response = next.run(Request::from_parts(parts, body)).await;
    if !errors::is_page_error(&response, &headers) {
        return response;
    }
    let layout = layout_of(&app, asked).await;
    errors::dress_in(response, &headers, layout)
}

/// The layout for the visitor of a request, with what somebody who is signed in can go on to. Where that cannot be
/// found out, a layout for everybody.
pub(super) async fn layout_of(app: &Arc<App>, mut request: Parts) -> Layout {
    match Visitor::from_request_parts(&mut request, app).await {
        // Not the path that was asked for: a page of an error does not repeat it.
        Ok(visitor) => Layout { path: "/app".to_owned(), ..Layout::new(app, &visitor) },
        Err(_) => Layout::bare(words_of(&request.headers)),
    }
}

/// Whether a request comes from a page of another site, as its browser says.
pub(super) fn is_foreign(request: &Request, app: &App) -> bool {
    comes_from(request, app) == Some(false)
}

/// Whether a request comes from one of our own pages; `None` when nothing says where it comes from.
fn comes_from(request: &Request, app: &App) -> Option<bool> {
    let headers = request.headers();
    // Over HTTP/2 the host is a part of the address.
    let authority = request.uri().authority().map(Authority::as_str);
    let authority = authority.or_else(|| headers.get(header::HOST)?.to_str().ok());
    is_own(headers, authority, app.policy().public_url.as_str())
}

fn is_own(headers: &HeaderMap, host: Option<&str>, public_url: &str) -> Option<bool> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let fetched = text(SEC_FETCH_SITE).map(|site| site == "same-origin");
    let origin = text(header::ORIGIN).map(|origin| {
        // Behind a proxy the scheme is not ours to know; the host is what the browser asked for.
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        origin == public_url || (authority.is_some() && authority == host)
    });
    match (fetched, origin) {
        (None, None) => None,
        (fetched, origin) => Some(fetched.unwrap_or(true) && origin.unwrap_or(true)),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn own(pairs: &[(HeaderName, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
        is_own(&headers, Some("kurz.example:8080"), "https://public.example") == Some(true)
    }

    #[test]
    fn a_change_comes_from_a_page_of_ours_or_not_at_all() {
        let origin = |value| (header::ORIGIN, value);
        let site = |value| (SEC_FETCH_SITE, value);
        assert!(own(&[origin("http://kurz.example:8080")]));
        assert!(own(&[origin("https://public.example")]));
        assert!(own(&[site("same-origin")]));
        assert!(own(&[site("same-origin"), origin("https://public.example")]));
        assert!(!own(&[]), "no browser is that silent");
        for bad in ["null", "", "http://evil.example", "http://kurz.example", "kurz.example:8080"] {
            assert!(!own(&[origin(bad)]), "{bad}");
            assert!(!own(&[origin(bad), site("same-origin")]), "{bad}");
        }
        for bad in ["cross-site", "same-site", "none", ""] {
            assert!(!own(&[site(bad)]), "{bad}");
            assert!(!own(&[site(bad), origin("https://public.example")]), "{bad}");
        }
    }
}
