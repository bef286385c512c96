//! The visitor of a page: the session of the browser, and the language.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::response::{IntoResponse, Redirect, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::de::DeserializeOwned;

use crate::app::{App, Browser};
use crate::client_address::ClientAddress;
use crate::language::Language;
use crate::telemetry::set_caller;
use crate::web::cookies;
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::i18n::Words;
use kurz_core::account::Caller;

#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) caller: Caller,
    /// The browser that is signed in, if it is.
    pub(super) browser: Option<Browser>,
    pub(super) language: Language,
    /// The path and query of the page, to come back to.
    pub(super) path: String,
}

/// A visitor who may see more than the front page: logged in, or on a server that is open. Others
/// are sent to the login page.
#[derive(Clone, Debug)]
pub(super) struct LoggedIn(pub(super) Visitor);

pub(super) struct PublicCall {
    pub(super) app: Arc<App>,
    pub(super) visitor: Visitor,
    pub(super) query: FormData,
}

/// A request by a visitor who is logged in, at a path with the names `P`.
pub(super) struct PageCall<P = ()> {
    pub(super) app: Arc<App>,
    pub(super) visitor: Visitor,
    pub(super) query: FormData,
    pub(super) path: P,
}

/// The language of a request: what was chosen, else what the browser asks for.
fn language(headers: &HeaderMap) -> Language {
    let chosen = cookies::language(headers).and_then(Language::parse);
    let accepted = headers.get(header::ACCEPT_LANGUAGE).map_or(&[][..], HeaderValue::as_bytes);
    chosen.unwrap_or_else(|| Language::accepted(accepted))
}

/// The words in the language of a request.
pub(super) fn words_of(headers: &HeaderMap) -> &'static Words {
    Words::of(language(headers))
}

impl Visitor {
    pub(super) fn words(&self) -> &'static Words {
        Words::of(self.language)
    }
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, PageError> {
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
        set_caller(&caller);
        // What only takes forms cannot be come back to.
        let form = parts.method != Method::GET && parts.uri.path().starts_with("/app");
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if form { "/app".to_owned() } else { path.to_owned() };
        Ok(Self { caller, browser, language: language(&parts.headers), path })
    }
}

impl FromRequestParts<Arc<App>> for LoggedIn {
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

impl FromRequestParts<Arc<App>> for PublicCall {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, PageError> {
        let visitor = Visitor::from_request_parts(parts, app).await?;
        Ok(Self { app: Arc::clone(app), visitor, query: FormData::of_query(&parts.uri) })
    }
}

impl<P: DeserializeOwned + Send> FromRequestParts<Arc<App>> for PageCall<P> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let LoggedIn(visitor) = LoggedIn::from_request_parts(parts, app).await?;
        let path = Path::from_request_parts(parts, app).await;
        let Path(path) = path.map_err(IntoResponse::into_response)?;
        Ok(Self { app: Arc::clone(app), visitor, query: FormData::of_query(&parts.uri), path })
    }
}
