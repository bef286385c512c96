//! Who looks at a page: the session of their browser, and the language they read.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Redirect, Response};
use http::request::Parts;
use http::{HeaderMap, Method, header};

use crate::app::{App, Browser};
use crate::client_address::ClientAddress;
use crate::web::cookies;
use crate::web::failure::Failure;
use crate::web::words::Language;
use kurz_core::account::Caller;

/// Anybody.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// Who asks.
    pub(super) caller: Caller,
    /// The browser that is signed in, if it is.
    pub(super) browser: Option<Browser>,
    pub(super) language: Language,
    /// The path and query of the page, to come back to.
    pub(super) path: String,
}

/// Somebody who may see more than the front page: signed in, or on a server that is open.
#[derive(Clone, Debug)]
pub(super) struct Member(pub(super) Visitor);

/// The language of a request: what was chosen, else what the browser asks for.
pub(super) fn language(headers: &HeaderMap) -> Language {
    let chosen = cookies::language(headers).and_then(Language::parse);
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    chosen.unwrap_or_else(|| Language::accepted(accepted.unwrap_or_default()))
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(parts, app).await;
        let browser = match cookies::session(app, &parts.headers) {
            Some(secret) => app.identify_browser(secret, client).await?,
            None => None,
        };
        let caller = match &browser {
            Some(browser) => browser.caller.clone(),
            None if app.policy().open => Caller::OPEN.at(client),
            None => Caller::ANONYMOUS.at(client),
        };
        // What only takes forms cannot be come back to.
        let form = parts.method != Method::GET && parts.uri.path().starts_with("/app");
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if form { "/app".to_owned() } else { path.to_owned() };
        Ok(Self { caller, browser, language: language(&parts.headers), path })
    }
}

impl FromRequestParts<Arc<App>> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let visitor = Visitor::from_request_parts(parts, app).await;
        let visitor = visitor.map_err(IntoResponse::into_response)?;
        if !visitor.caller.is_anonymous() {
            return Ok(Self(visitor));
        }
        // What was about to be sent cannot be sent again from here; the page it is about can be
        // shown.
        let next = if parts.method == Method::GET { visitor.path.as_str() } else { "/app" };
        let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        Err(Redirect::to(&format!("/login?next={next}")).into_response())
    }
}
