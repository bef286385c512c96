//! `GET /api/v1/admin/analytics`: sums over all workspaces.

use tokio::time::Instant;

use crate::api::analytics::parameters::{QueryPairs, QuestionParams};
use crate::api::analytics::wire::AnalyticsBody;
use crate::api::call::{Call, JsonResult};
use crate::problem::Problems;

/// What is known about all clicks on the server: sums, without links, tags and filters by them. Takes an administrator
/// of the server.
#[utoipa::path(get, path = "/api/v1/admin/analytics", tag = "administration",
    operation_id = "platform_analytics",
    params(QuestionParams),
    responses((status = 200, description = "The answer.", body = AnalyticsBody), Problems))]
pub(crate) async fn platform(
    Call { app, caller, .. }: Call,
    QueryPairs(pairs): QueryPairs,
) -> JsonResult<AnalyticsBody> {
    let start = Instant::now();
    let report = app.platform_analytics(&caller, &pairs).await?;
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(axum::Json(AnalyticsBody::new(report, ms)))
}
