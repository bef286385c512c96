//! The wire shape of Adma: accounts at `/auth`, links at `/api/urls`, random codes in `main`.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::{BULK_BYTES, Json, Names, Object};
use crate::api::time::Time;
use crate::app::{
    App, AppError, ClaimRequest, Created, LinkFilter, LinkRequest, MAIN, MOST_CLAIMS, Registration,
    Session, ShownLink,
};
use crate::client_address::ClientAddress;
use crate::problem::{Problem, Problems};
use kurz_core::account::{Caller, Refused};
use kurz_core::link::{LinkId, Strategy};

/// Most links of a list: the newest.
const MOST_LISTED: i64 = 1000;
/// How this shape names the fields that an error may name.
const NAMES: &[(&str, &str)] = &[("original_url", "originalUrl"), ("links", "urls")];

/// A problem of the code below, in this shape's words.
fn problem(error: impl Into<Problem>) -> Problem {
    error.into().renaming(NAMES)
}

/// A person to register.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AdmaRegister {
    name: String,
    email: String,
    #[schema(format = "password")]
    password: String,
}

/// A person to sign in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AdmaLogin {
    email: String,
    #[schema(format = "password")]
    password: String,
}

/// A sign-in.
#[derive(Serialize, ToSchema)]
pub(super) struct AdmaSession {
    token: String,
    name: String,
    email: String,
}

impl From<Session> for AdmaSession {
    fn from(session: Session) -> Self {
        Self {
            token: session.token.text,
            name: session.person.name,
            email: session.person.email.to_string(),
        }
    }
}

/// A link to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AdmaNewLink {
    original_url: String,
}

/// A link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdmaLink {
    id: i64,
    original_url: String,
    short_code: String,
    short_url: String,
    created_at: Time,
    expires_at: Option<Time>,
    /// `TEMPORARY` or `PERMANENT`.
    link_type: &'static str,
    /// `ACTIVE` or `EXPIRED`.
    status: &'static str,
    redirect_count: i64,
    avg_redirect_ms: f64,
    destination_status: Option<String>,
    last_checked_at: Option<Time>,
    /// On a link made without an account, this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_token: Option<String>,
}

impl AdmaLink {
    fn new(shown: ShownLink, claim_token: Option<String>) -> Self {
        let link = shown.link;
        Self {
            id: link.id.0,
            original_url: link.target,
            short_code: link.code.to_string(),
            short_url: shown.short_url,
            created_at: link.created_at.into(),
            expires_at: link.expires_at.map(Time::from),
            link_type: if link.is_temporary { "TEMPORARY" } else { "PERMANENT" },
            status: shown.status.as_str(),
            redirect_count: link.redirect_count,
            avg_redirect_ms: link.avg_redirect_ms,
            destination_status: link.destination_status,
            last_checked_at: link.last_checked_at.map(Time::from),
            claim_token,
        }
    }
}

/// Links to be made one's own, or made anew.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AdmaSync {
    /// 1 to 100 of them.
    #[schema(min_items = 1, max_items = 100)]
    urls: Vec<AdmaSyncEntry>,
}

/// A URL, for which a new link is made, or a link with its token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(super) enum AdmaSyncEntry {
    /// A bare URL.
    Url(String),
    /// A link made without an account.
    #[schema(value_type = AdmaSyncLink)]
    Link(Object<AdmaSyncLink>),
}

/// A link made without an account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AdmaSyncLink {
    original_url: Option<String>,
    short_code: Option<String>,
    claim_token: Option<String>,
}

impl std::fmt::Debug for AdmaSyncLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AdmaSyncLink({:?})", self.short_code)
    }
}

/// The platform's totals.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdmaStats {
    total_links: i64,
    total_redirects: i64,
    avg_latency_ms: f64,
}

/// Make an account and sign in.
#[utoipa::path(post, path = "/auth/register", tag = "adma", operation_id = "adma_register",
    security(()), request_body = AdmaRegister,
    responses(
        (status = 201, description = "The account was made.", body = AdmaSession),
        (status = 409, description = "The address has an account.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(super) async fn register(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    Json(body): Json<AdmaRegister>,
) -> Result<(StatusCode, axum::Json<AdmaSession>), Problem> {
    let AdmaRegister { name, email, password } = body;
    let registration = Registration { email, password, name, invite: None };
    let session = app.register(&registration, client).await?;
    Ok((StatusCode::CREATED, axum::Json(session.into())))
}

/// Sign in.
#[utoipa::path(post, path = "/auth/login", tag = "adma", operation_id = "adma_login",
    security(()), request_body = AdmaLogin,
    responses((status = 200, description = "Signed in.", body = AdmaSession), Problems))]
pub(super) async fn login(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    Json(body): Json<AdmaLogin>,
) -> Result<axum::Json<AdmaSession>, Problem> {
    Ok(axum::Json(app.log_in(&body.email, &body.password, client).await?.into()))
}

/// Make a link without an account, whoever asks.
#[utoipa::path(post, path = "/api/urls/public", tag = "adma", operation_id = "adma_create_public",
    security(()), request_body = AdmaNewLink,
    responses((status = 201, description = "The link was made.", body = AdmaLink), Problems))]
pub(super) async fn create_public(
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    Json(body): Json<AdmaNewLink>,
) -> Result<(StatusCode, axum::Json<AdmaLink>), Problem> {
    make(&app, &Caller::ANONYMOUS.at(client), body).await
}

/// Make a link of one's own.
#[utoipa::path(post, path = "/api/urls", tag = "adma", operation_id = "adma_create",
    request_body = AdmaNewLink,
    responses((status = 201, description = "The link was made.", body = AdmaLink), Problems))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Json(body): Json<AdmaNewLink>,
) -> Result<(StatusCode, axum::Json<AdmaLink>), Problem> {
    if caller.is_anonymous() {
        return Err(problem(unauthenticated()));
    }
    make(&app, &caller, body).await
}

/// List one's own links: the newest 1,000.
#[utoipa::path(get, path = "/api/urls", tag = "adma", operation_id = "adma_list",
    responses((status = 200, description = "The links, newest first.", body = Vec<AdmaLink>),
        Problems))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
) -> Result<axum::Json<Vec<AdmaLink>>, Problem> {
    own_links(&app, &caller).await
}

/// Delete one of one's own links.
#[utoipa::path(delete, path = "/api/urls/{id}", tag = "adma", operation_id = "adma_delete",
    params(("id" = i64, Path, description = "The link's number.")),
    responses((status = 204, description = "Deleted."), Problems))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(id): Names<i64>,
) -> Result<StatusCode, Problem> {
    if caller.is_anonymous() {
        return Err(problem(unauthenticated()));
    }
    let (workspace, code) = app.locate_link(LinkId(id)).await?;
    app.delete_link(&caller, &workspace, code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Claim links by their tokens, and make new ones for bare URLs. The answer is one's own list.
#[utoipa::path(post, path = "/api/urls/sync", tag = "adma", operation_id = "adma_sync",
    request_body = AdmaSync,
    responses((status = 200, description = "One's own links, newest first.",
        body = Vec<AdmaLink>), Problems))]
pub(super) async fn sync(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Json(body): Json<AdmaSync, BULK_BYTES>,
) -> Result<axum::Json<Vec<AdmaLink>>, Problem> {
    if caller.identity().is_none() {
        return Err(problem(unauthenticated()));
    }
    if body.urls.is_empty() || body.urls.len() > MOST_CLAIMS {
        let detail = format!("A call takes 1 to {MOST_CLAIMS} urls.");
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "claims-size", detail));
    }
    let mut fresh = Vec::new();
    let mut claims = Vec::new();
    for entry in body.urls {
        match entry {
            AdmaSyncEntry::Url(url) => fresh.push(request(url)),
            AdmaSyncEntry::Link(Object(link)) => match (link.short_code, link.claim_token) {
                (Some(code), Some(token)) => claims.push(ClaimRequest { code, token }),
                // Without a token it is a bare URL, whatever else it says.
                _ => fresh.extend(link.original_url.map(request)),
            },
        }
    }
    if !fresh.is_empty() {
        let main = App::workspace_id(MAIN)?;
        app.create_links(&caller, &main, &fresh, true).await.map_err(|error| match error {
            AppError::BatchRefused { why, .. } => problem(*why),
            other => problem(other),
        })?;
    }
    if !claims.is_empty() {
        // A token that is used or over takes nothing; the list shows what is one's own.
        app.claim_links(&caller, &claims).await.map_err(problem)?;
    }
    own_links(&app, &caller).await
}

/// The platform's totals.
#[utoipa::path(get, path = "/api/stats", tag = "adma", operation_id = "adma_stats", security(()),
    responses((status = 200, description = "The totals.", body = AdmaStats), Problems))]
pub(super) async fn stats(State(app): State<Arc<App>>) -> Result<axum::Json<AdmaStats>, Problem> {
    let stats = app.stats().await?;
    Ok(axum::Json(AdmaStats {
        total_links: stats.live_links,
        total_redirects: stats.redirects,
        avg_latency_ms: stats.mean_ms,
    }))
}

async fn make(
    app: &App,
    caller: &Caller,
    body: AdmaNewLink,
) -> Result<(StatusCode, axum::Json<AdmaLink>), Problem> {
    let main = App::workspace_id(MAIN)?;
    let created = app.create_link(caller, &main, &request(body.original_url)).await;
    let Created { link, claim_token, .. } = created.map_err(problem)?;
    Ok((StatusCode::CREATED, axum::Json(AdmaLink::new(link, claim_token))))
}

async fn own_links(app: &App, caller: &Caller) -> Result<axum::Json<Vec<AdmaLink>>, Problem> {
    let main = App::workspace_id(MAIN)?;
    let filter = LinkFilter { limit: Some(MOST_LISTED), mine: true, ..LinkFilter::default() };
    let page = app.list_links(caller, &main, &filter).await?;
    Ok(axum::Json(page.links.into_iter().map(|link| AdmaLink::new(link, None)).collect()))
}

fn request(original_url: String) -> LinkRequest {
    LinkRequest { original_url, strategy: Some(Strategy::Random), ..LinkRequest::default() }
}

/// Unlike its native sibling, this shape makes no link without an account here.
fn unauthenticated() -> AppError {
    Refused::Unauthenticated.into()
}
