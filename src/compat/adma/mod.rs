//! The API of Adma: accounts at `/auth`, links at `/api/urls`, random codes in `main`.

mod auth;
mod errors;
mod wire;

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::errors::problem;
use self::wire::{AdmaLink, AdmaNewLink, AdmaStats, AdmaSync, AdmaSyncEntry};
use crate::api::call::{
    BodyCall, Call, CreatedResult, EmptyResult, JsonResult, PublicBodyCall, created,
};
use crate::api::identity::Identified;
use crate::api::input::{BULK_BYTES, Json, Object};
use crate::app::{
    App, AppError, ClaimRequest, Created, FieldError, LinkFilter, LinkRequest, MAIN, MOST_CLAIMS,
};
use crate::problem::{Problem, Problems};
use kurz_core::account::{Caller, Refused};
use kurz_core::link::{LinkId, Strategy};

/// Most links of a list: the newest.
const MOST_LISTED: i64 = 1000;

pub(super) fn endpoints() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(auth::register))
        .routes(routes!(auth::login))
        .routes(routes!(create_public))
        .routes(routes!(create, list))
        .routes(routes!(delete))
        .routes(routes!(sync))
        .routes(routes!(stats))
}

/// Create a link without an account, whoever asks.
#[utoipa::path(post, path = "/api/urls/public", tag = "adma", operation_id = "adma_create_public",
    security(()), request_body = AdmaNewLink,
    responses((status = 201, description = "The link was created.", body = AdmaLink), Problems))]
pub(super) async fn create_public(
    PublicBodyCall { app, client, body }: PublicBodyCall<AdmaNewLink>,
) -> CreatedResult<AdmaLink> {
    make(&app, &Caller::ANONYMOUS.at(client), body).await
}

/// Create a link.
#[utoipa::path(post, path = "/api/urls", tag = "adma", operation_id = "adma_create",
    request_body = AdmaNewLink,
    responses((status = 201, description = "The link was created.", body = AdmaLink), Problems))]
pub(super) async fn create(
    BodyCall { app, caller, body, .. }: BodyCall<(), AdmaNewLink>,
) -> CreatedResult<AdmaLink> {
    if caller.is_anonymous() {
        return Err(problem(unauthenticated()));
    }
    make(&app, &caller, body).await
}

/// List your own links: the newest 1,000.
#[utoipa::path(get, path = "/api/urls", tag = "adma", operation_id = "adma_list",
    responses((status = 200, description = "The links, newest first.", body = Vec<AdmaLink>),
        Problems))]
pub(super) async fn list(Call { app, caller, .. }: Call) -> JsonResult<Vec<AdmaLink>> {
    own_links(&app, &caller).await
}

/// Delete one of your own links.
#[utoipa::path(delete, path = "/api/urls/{id}", tag = "adma", operation_id = "adma_delete",
    params(("id" = i64, Path, description = "The link's number.")),
    responses((status = 204, description = "Deleted."), Problems))]
pub(super) async fn delete(Call { app, caller, path: id }: Call<i64>) -> EmptyResult {
    if caller.is_anonymous() {
        return Err(problem(unauthenticated()));
    }
    let (workspace, code) = app.locate_link(LinkId(id)).await?;
    app.delete_link(&caller, &workspace, code.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Claim links by their tokens, and create links for bare URLs that an earlier sync made none for. The answer is
/// your own list.
#[utoipa::path(post, path = "/api/urls/sync", tag = "adma", operation_id = "adma_sync",
    request_body = AdmaSync,
    responses((status = 200, description = "One's own links, newest first.",
        body = Vec<AdmaLink>), Problems))]
pub(super) async fn sync(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Json(body): Json<AdmaSync, BULK_BYTES>,
) -> JsonResult<Vec<AdmaLink>> {
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
                (Some(code), Some(token)) if !code.is_empty() && !token.is_empty() => {
                    claims.push(ClaimRequest { code, token });
                }
                // Without a token it is a bare URL, whatever else it says.
                _ => fresh.push(request(link.original_url.ok_or_else(empty_entry)?)),
            },
        }
    }
    if !fresh.is_empty() {
        app.sync_links(&caller, &fresh).await.map_err(|error| match error {
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
pub(super) async fn stats(State(app): State<Arc<App>>) -> JsonResult<AdmaStats> {
    let stats = app.totals().await?;
    Ok(axum::Json(AdmaStats {
        total_links: stats.live_links,
        total_redirects: stats.redirects,
        avg_latency_ms: stats.mean_ms,
    }))
}

async fn make(app: &App, caller: &Caller, body: AdmaNewLink) -> CreatedResult<AdmaLink> {
    let main = App::workspace_id(MAIN)?;
    let answer = app.create_link(caller, &main, &request(body.original_url)).await;
    let Created { link, claim_token, .. } = answer.map_err(problem)?;
    Ok(created(AdmaLink::new(link, claim_token)))
}

async fn own_links(app: &App, caller: &Caller) -> JsonResult<Vec<AdmaLink>> {
    let main = App::workspace_id(MAIN)?;
    let filter = LinkFilter { limit: Some(MOST_LISTED), mine: true, ..LinkFilter::default() };
    let page = app.list_links(caller, &main, &filter).await?;
    Ok(axum::Json(page.items.into_iter().map(|link| AdmaLink::new(link, None)).collect()))
}

fn request(original_url: String) -> LinkRequest {
    LinkRequest { original_url, strategy: Some(Strategy::Random), ..LinkRequest::default() }
}

/// An entry with neither a URL nor a code and a token.
fn empty_entry() -> Problem {
    let detail = "an entry is a URL, or an object with `originalUrl`, or with `shortCode` and \
                  `claimToken`: one of them is empty";
    problem(AppError::from(FieldError::new("links", "sync-entry-empty", detail)))
}

/// Unlike its native sibling, this shape makes no link without an account here.
fn unauthenticated() -> AppError {
    Refused::Unauthenticated.into()
}
