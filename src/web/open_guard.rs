//! Middleware of a server in open mode, before the API and the pages: without accounts, whoever can send a request
//! may do everything, and every web page can make its visitor's browser send one to this machine.
//!
//! Invariant: in open mode no request reaches an endpoint under a host that is not this server's (a foreign
//! name can be made to resolve to any address), and no unsafe one when its browser says that it comes
//! from another site. Programs other than browsers say nothing about a site and are served.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::app::App;
use crate::problem::Problem;
use crate::web::errors::{self, PageError};
use crate::web::guard;
use crate::web::preview::HostOfRequest;

/// Probes of load balancers name whatever host they like, and learn nothing.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Before every endpoint of the API.
pub(crate) async fn guard_open_api(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    if !app.policy().open || PROBES.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    if !app.policy().own.has_host(host_of(&request)) {
        return unknown_host().into_response();
    }
    if !request.method().is_safe() && guard::is_foreign(&request, &app) {
        let detail =
            "The request comes from a page of another site, and this server is in open mode.";
        return Problem::new(StatusCode::FORBIDDEN, "csrf", detail).into_response();
    }
    next.run(request).await
}

/// Before every page. The hosts of workspaces have few of them, which `guard` knows; it also looks where a
/// form comes from.
pub(crate) async fn guard_open_pages(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let host = host_of(&request);
    let is_own = || app.policy().own.has_host(host) || app.workspace_of_host(host).is_some();
    if !app.policy().open || is_own() {
        return next.run(request).await;
    }
    let headers = request.headers();
    errors::dress(PageError::from(unknown_host()).into_response(), headers)
}

fn host_of(request: &Request) -> &str {
    request.extensions().get::<HostOfRequest>().map_or("", |host| host.0.as_str())
}

fn unknown_host() -> Problem {
    let detail = "This server is in open mode and answers under its own names only: localhost, the address it \
                  listens on, and its public URL (KURZ_PUBLIC_URL).";
    Problem::new(StatusCode::MISDIRECTED_REQUEST, "host-unknown", detail)
}
