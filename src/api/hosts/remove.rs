//! `DELETE …/hosts/{host}`: take a host from a workspace.

use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::call::{Call, EmptyResult};
use crate::app::App;
use crate::problem::Problems;

/// `/workspaces/{workspace}/hosts/{host}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct HostPath {
    /// The workspace's id.
    workspace: String,
    /// The host's name.
    host: String,
}

/// Take a host from a workspace. Its links go on at their other addresses.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/hosts/{host}", tag = "hosts",
    operation_id = "remove_host",
    params(HostPath),
    responses((status = 204, description = "Taken away."), Problems))]
pub(crate) async fn remove(Call { app, caller, path }: Call<HostPath>) -> EmptyResult {
    app.remove_host(&caller, &App::workspace_id(&path.workspace)?, &path.host).await?;
    Ok(StatusCode::NO_CONTENT)
}
