//! `GET /api/v1/workspaces/{workspace}`: one workspace.

use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::api::workspaces::WorkspaceBody;
use crate::problem::Problems;

/// Look at a workspace.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}", tag = "workspaces",
    operation_id = "show_workspace",
    params(WorkspacePath),
    responses((status = 200, description = "The workspace.", body = WorkspaceBody), Problems))]
pub(crate) async fn show(
    Call { app, caller, path }: Call<WorkspacePath>,
) -> JsonResult<WorkspaceBody> {
    Ok(axum::Json(app.show_workspace(&caller, &path.workspace()?).await?.into()))
}
