//! `DELETE …/hosts/{host}`: take a host from a workspace.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult};
use crate::api::hosts::HostPath;
use crate::app::App;
use crate::problem::Problems;

/// Remove a host, active or pending, from a workspace. Its links keep their other addresses.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/hosts/{host}", tag = "hosts",
    operation_id = "remove_host",
    params(HostPath),
    responses((status = 204, description = "Taken away."), Problems))]
pub(crate) async fn remove(Call { app, caller, path }: Call<HostPath>) -> EmptyResult {
    app.remove_host(&caller, &App::workspace_id(&path.workspace)?, &path.host).await?;
    Ok(StatusCode::NO_CONTENT)
}
