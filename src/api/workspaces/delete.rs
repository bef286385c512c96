//! `DELETE /api/v1/workspaces/{workspace}`: remove a workspace whose links are all deleted.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Remove a workspace. Its links must have been deleted first.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}", tag = "workspaces",
    operation_id = "delete_workspace",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    responses(
        (status = 204, description = "Removed."),
        (status = 409, description = "It still has links, or it is `main`.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
) -> Result<StatusCode, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    app.delete_workspace(&caller, &workspace).await?;
    Ok(StatusCode::NO_CONTENT)
}
