//! `GET …/analytics`: what is known about the clicks of a workspace, or of one of its links.

use tokio::time::Instant;

use crate::api::analytics::parameters::{QueryPairs, QuestionParams};
use crate::api::analytics::wire::AnalyticsBody;
use crate::api::call::{Call, JsonResult, LinkPath, WorkspacePath};
use crate::app::{App, AppError};
use crate::problem::Problems;
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;

/// What is known about the clicks of a workspace: over time, and by any of their properties. In `main` these are the
/// clicks on your own links.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/analytics", tag = "analytics",
    operation_id = "workspace_analytics",
    params(WorkspacePath, QuestionParams),
    responses((status = 200, description = "The answer.", body = AnalyticsBody), Problems))]
pub(crate) async fn workspace(
    Call { app, caller, path }: Call<WorkspacePath>,
    QueryPairs(pairs): QueryPairs,
) -> JsonResult<AnalyticsBody> {
    Ok(axum::Json(answer(&app, &caller, &path.workspace()?, None, &pairs).await?))
}

/// What is known about the clicks on a link.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/analytics", tag = "analytics",
    operation_id = "link_analytics",
    params(LinkPath, QuestionParams),
    responses((status = 200, description = "The answer.", body = AnalyticsBody), Problems))]
pub(crate) async fn link(
    Call { app, caller, path }: Call<LinkPath>,
    QueryPairs(pairs): QueryPairs,
) -> JsonResult<AnalyticsBody> {
    Ok(axum::Json(answer(&app, &caller, &path.workspace()?, Some(&path.code), &pairs).await?))
}

async fn answer(
    app: &App,
    caller: &Caller,
    workspace: &WorkspaceId,
    code: Option<&str>,
    pairs: &[(String, String)],
) -> Result<AnalyticsBody, AppError> {
    let start = Instant::now();
    let query = app.analytics_question(caller, workspace, code, pairs).await?;
    let report = app.analytics(caller, workspace, &query).await?;
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(AnalyticsBody::new(report, ms))
}
