//! `{code}+`: where a link leads, without going there. Also the answer for every address that is
//! nothing at all, since a short address can look like anything.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};

use crate::app::{App, AppError, ShownLink};
use crate::code::path::{self, Place};
use crate::link::Status;
use crate::problem::Problem;
use crate::web::page;

#[derive(Template)]
#[template(path = "preview.html")]
struct Preview<'a> {
    short_url: &'a str,
    target: &'a str,
    title: Option<&'a str>,
    created: String,
    expired: bool,
}

/// What no route took: a preview, or nothing.
pub async fn short_address(State(app): State<Arc<App>>, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let nothing = || page::nothing(&request.headers);
    let path = request.uri.path();
    let Some(short) = path::parse(path).filter(|short| short.preview) else { return nothing() };
    if request.method != Method::GET && request.method != Method::HEAD {
        let detail = "A preview can only be asked for with GET or HEAD.";
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail);
        return ([(header::ALLOW, "GET, HEAD")], problem).into_response();
    }
    let host = request.extensions.get::<HostOfRequest>().map_or("", |host| host.0.as_str());
    let key = match (app.workspace_of_host(host), short.place) {
        (None, Place::Bare { code }) => code.to_owned(),
        (None, Place::Workspace { key, .. }) => key.to_owned(),
        (Some(workspace), Place::Bare { code }) => format!("{workspace}/{code}"),
        (Some(_), Place::Workspace { .. }) => return nothing(),
    };
    match app.preview(&key).await {
        Ok(shown) => preview(&shown).unwrap_or_else(nothing),
        Err(AppError::NotFound(_)) => nothing(),
        Err(error) => Problem::from(error).into_response(),
    }
}

/// The host that a request was made to, in lower case, without a port.
#[derive(Clone, Debug)]
pub struct HostOfRequest(pub String);

fn preview(shown: &ShownLink) -> Option<Response> {
    let page = Preview {
        short_url: &shown.short_url,
        target: &shown.link.target,
        title: shown.link.title.as_deref(),
        created: shown.link.created_at.to_rfc3339(),
        expired: shown.status == Status::Expired,
    };
    let status = if page.expired { StatusCode::GONE } else { StatusCode::OK };
    page.render().ok().map(|body| page::html(status, body))
}
