//! `/healthz` and `/readyz`: is the process alive, and can it do its work?

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;

/// Whether the server can do its work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// Whether everything it depends on answers.
    ready: bool,
    /// Each dependency: `ok`, or why not.
    checks: Checks,
}

/// The dependencies.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Checks {
    /// The database.
    store: String,
    /// Redis, if there is one. Without it the server goes on: what instances tell each other goes
    /// through the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<String>,
    /// The monthly limits of links, if instances share them and there is a Redis.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<String>,
    /// The details of clicks, if the disk has no room for them. Clicks count all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<&'static str>,
    /// ClickHouse, if events are copied there. Without it the server goes on: they are in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    clickhouse: Option<String>,
    /// The geo file, if it is old. Places come from it all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    geo_file: Option<&'static str>,
}

/// Alive: says so as long as the process answers at all.
#[utoipa::path(get, path = "/healthz", tag = "platform", security(()),
    responses((status = 200, description = "Alive.", body = String, content_type = "text/plain")))]
pub(crate) async fn healthz() -> &'static str {
    "ok"
}

/// Ready: whether everything the server depends on answers, with reasons.
#[utoipa::path(get, path = "/readyz", tag = "platform", security(()),
    responses(
        (status = 200, description = "Ready.", body = Readiness),
        (status = 503, description = "Not ready.", body = Readiness),
    ))]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Response {
    let (ready, store) = match app.check_store().await {
        Ok(()) => (true, "ok".to_owned()),
        Err(error) if error.is_displaced_store() => {
            (false, "the file of the database was moved away or replaced".to_owned())
        }
        // The reason in full is in the log: it may name servers.
        Err(_) => (false, "the database does not answer".to_owned()),
    };
    let redis = app.redis_answers();
    let quota = redis.filter(|_| app.shares_quota());
    let redis = check(redis, "Redis does not answer");
    let quota = check(quota, "without Redis: instances recall hits through the database");
    let full = "the disk of the database is nearly full: clicks are counted without details";
    let events = app.is_without_room_for_events().then_some(full);
    let lacking = "ClickHouse does not take events: answers come from the store";
    let clickhouse = check(app.clickhouse_works(), lacking);
    let old = "the geo file is older than 60 days: put a newer one in its place";
    let geo_file = app.has_old_geo_file().then_some(old);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (
        status,
        axum::Json(Readiness {
            ready,
            checks: Checks { store, redis, quota, events, clickhouse, geo_file },
        }),
    )
        .into_response()
}

/// `ok`, or `otherwise`; nothing where there is nothing to check.
fn check(answers: Option<bool>, otherwise: &str) -> Option<String> {
    answers.map(|answers| if answers { "ok" } else { otherwise }.to_owned())
}
