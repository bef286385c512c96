//! `DELETE …/hosts/{host}`: take a host from a workspace.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Remove a host from a workspace. Its links keep their other addresses.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/hosts/{host}", tag = "hosts",
    operation_id = "remove_host",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("host" = String, Path, description = "The host's name."),
    ),
    responses((status = 204, description = "Taken away."), Problems))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, host)): Names<(String, String)>,
) -> Result<StatusCode, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    app.remove_host(&caller, &workspace, &host).await?;
    Ok(StatusCode::NO_CONTENT)
}
