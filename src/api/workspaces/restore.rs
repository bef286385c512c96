//! `POST /api/v1/workspaces/{workspace}/restore`: bring a deleted workspace back.

use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::api::workspaces::WorkspaceBody;
use crate::problem::{Problem, Problems};

/// Restore a deleted workspace: for administrators of the server. It has no members and hosts then; add them again.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/restore", tag = "workspaces",
    operation_id = "restore_workspace",
    params(WorkspacePath),
    responses(
        (status = 200, description = "The restored workspace.", body = WorkspaceBody),
        (status = 409, description = "The workspace is not deleted.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn restore(
    Call { app, caller, path }: Call<WorkspacePath>,
) -> JsonResult<WorkspaceBody> {
    Ok(axum::Json(app.restore_workspace(&caller, &path.workspace()?).await?.into()))
}
