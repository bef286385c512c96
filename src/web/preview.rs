//! `{code}+`: where a link leads, without going there. Also the answer for every address that is
//! nothing at all, since a short address can look like anything.

use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequestParts, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use crate::app::{App, AppError, Destinations, ShownLink};
use crate::client_address::ClientAddress;
use crate::problem::Problem;
use crate::web::errors::{self, PageError};
use crate::web::guard::layout_of;
use crate::web::page::{self, Layout};
use crate::web::report;
use crate::web::visitor::words_of;
use kurz_core::code::short_path::{self, PathTarget};
use kurz_core::link::Status;

#[derive(Template)]
#[template(path = "preview.html")]
struct Preview<'a> {
    page: Layout,
    short_url: &'a str,
    target: String,
    /// Where it leads, when that is not the same for everybody.
    hosts: Vec<String>,
    /// Nothing of where it leads is said.
    is_protected: bool,
    is_lookalike: bool,
    title: Option<&'a str>,
    created: String,
    created_at: String,
    report: String,
    /// Why it leads nowhere, if it does not.
    dead: Option<&'static str>,
}

/// What no route took: a preview, or nothing.
pub(crate) async fn short_address(State(app): State<Arc<App>>, request: Request) -> Response {
    let (mut request, _) = request.into_parts();
    let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(&mut request, &app).await;
    let nothing = || page::nothing(&request.headers);
    let path = request.uri.path();
    let Some(short) = short_path::parse(path).filter(|short| short.preview) else {
        let host = request.extensions.get::<HostOfRequest>().map_or("", |host| host.0.as_str());
        let is_read = request.method == Method::GET || request.method == Method::HEAD;
        if is_read && let Some(location) = app.invalid_code_location(host, path) {
            return leave(location);
        }
        if path.starts_with("/app/") && app.workspace_of_host(host).is_none() {
            let layout = layout_of(&app, request.clone()).await;
            return page::nothing_in(&request.headers, layout);
        }
        if request.method == Method::GET {
            app.miss_on_host(host, path);
        }
        return nothing();
    };
    if request.method != Method::GET && request.method != Method::HEAD {
        let detail = "A preview can only be asked for with GET or HEAD.";
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail);
        return ([(header::ALLOW, "GET, HEAD")], problem).into_response();
    }
    let host = request.extensions.get::<HostOfRequest>().map_or("", |host| host.0.as_str());
    let key = match (app.workspace_of_host(host), short.target) {
        (None, PathTarget::Bare { code }) => code.to_owned(),
        (None, PathTarget::Workspace { key, .. }) => key.to_owned(),
        (Some(workspace), PathTarget::Bare { code }) => format!("{workspace}/{code}"),
        (Some(_), PathTarget::Workspace { .. }) => return nothing(),
    };
    match app.preview(&key).await {
        Ok(shown) => preview(&shown, &request.headers),
        Err(AppError::NotFound(_)) => match app.missed(client) {
            AppError::NotFound(_) => nothing(),
            limited => refuse(limited, &request.headers),
        },
        Err(error) => refuse(error, &request.headers),
    }
}

/// To where other addresses of a host lead than those of links and pages.
pub(super) fn leave(location: HeaderValue) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}

fn refuse(error: AppError, headers: &HeaderMap) -> Response {
    errors::dress(PageError::from(error).into_response(), headers)
}

/// The host that a request was made to, in lower case, without a port.
#[derive(Clone, Debug)]
pub(crate) struct HostOfRequest(pub(crate) String);

/// The page says nothing of whose the link is, and shows nobody who looks at it as signed in: it
/// may stand on a workspace's own host.
fn preview(shown: &ShownLink, headers: &HeaderMap) -> Response {
    let words = words_of(headers);
    let dead = match shown.status {
        Status::Expired => Some(words.link.preview_expired),
        Status::Disabled => Some(words.link.preview_disabled),
        Status::Active | Status::Deleted => None,
    };
    let destinations = shown.destinations();
    let is_protected = destinations == Destinations::Protected;
    let preview = Preview {
        page: Layout::bare(words),
        short_url: &shown.short_url,
        target: if is_protected { String::new() } else { shown.visible_target() },
        is_lookalike: shown.is_lookalike && !is_protected,
        is_protected,
        hosts: match destinations {
            Destinations::Several(hosts) => hosts,
            Destinations::One | Destinations::Protected => Vec::new(),
        },
        title: shown.link.fields.title.as_deref().filter(|_| !is_protected),
        created: page::time(shown.link.created_at),
        created_at: shown.link.created_at.to_rfc3339(),
        report: {
            let address: String =
                url::form_urlencoded::byte_serialize(shown.short_url.as_bytes()).collect();
            format!("{}?link={address}", report::PATH)
        },
        dead,
    };
    let status = if dead.is_some() { StatusCode::GONE } else { StatusCode::OK };
    page::show_with(status, &preview)
}
