//! `DELETE /api/v1/workspaces/{workspace}`: remove a workspace whose links are all deleted.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult, WorkspacePath};
use crate::problem::{Problem, Problems};

/// Remove a workspace. Its links must have been deleted first.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}", tag = "workspaces",
    operation_id = "delete_workspace",
    params(WorkspacePath),
    responses(
        (status = 204, description = "Removed."),
        (status = 409, description = "It still has links, or it is `main`.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn delete(Call { app, caller, path }: Call<WorkspacePath>) -> EmptyResult {
    app.delete_workspace(&caller, &path.workspace()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
