//! `GET /api/v1/workspaces/{workspace}`: one workspace.

use std::sync::Arc;

use axum::extract::State;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::api::workspaces::WorkspaceBody;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Look at a workspace.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}", tag = "workspaces",
    operation_id = "show_workspace",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    responses((status = 200, description = "The workspace.", body = WorkspaceBody), Problems))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
) -> Result<axum::Json<WorkspaceBody>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    Ok(axum::Json(app.show_workspace(&caller, &workspace).await?.into()))
}
