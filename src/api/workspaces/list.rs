//! `GET /api/v1/workspaces`: the workspaces, by name.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{Call, JsonResult};
use crate::api::input::Params;
use crate::api::workspaces::WorkspaceBody;
use crate::problem::Problems;

/// Which workspaces.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListParams {
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
    /// Workspaces in a page: 1 to 1,000, 50 if you say nothing.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// A page of workspaces.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorkspaceList {
    workspaces: Vec<WorkspaceBody>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// List the workspaces.
#[utoipa::path(get, path = "/api/v1/workspaces", tag = "workspaces",
    operation_id = "list_workspaces", params(ListParams),
    responses((status = 200, description = "A page of workspaces.", body = WorkspaceList),
        Problems))]
pub(crate) async fn list(
    Call { app, caller, .. }: Call,
    Params(params): Params<ListParams>,
) -> JsonResult<WorkspaceList> {
    let page = app.list_workspaces(&caller, params.cursor.as_deref(), params.limit).await?;
    let workspaces = page.items.into_iter().map(WorkspaceBody::from).collect();
    Ok(axum::Json(WorkspaceList { workspaces, next_cursor: page.next }))
}
