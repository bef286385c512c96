//! `GET /api/v1/stats`: the platform's totals, for everybody.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::JsonResult;
use crate::app::App;
use crate::problem::Problems;

/// The platform's totals.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatsBody {
    /// Links that redirect.
    total_links: i64,
    /// All redirects ever.
    total_redirects: i64,
    /// Their mean latency on the server, in milliseconds.
    avg_redirect_ms: f64,
}

/// The platform's totals.
#[utoipa::path(get, path = "/api/v1/stats", tag = "platform",
    operation_id = "platform_stats", security(()),
    responses((status = 200, description = "The totals.", body = StatsBody), Problems))]
pub(crate) async fn totals(State(app): State<Arc<App>>) -> JsonResult<StatsBody> {
    let totals = app.totals().await?;
    Ok(axum::Json(StatsBody {
        total_links: totals.live_links,
        total_redirects: totals.redirects,
        avg_redirect_ms: totals.mean_ms,
    }))
}
