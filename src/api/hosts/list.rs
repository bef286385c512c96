//! `GET …/hosts`: the hosts of a workspace.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::hosts::HostBody;
use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// All hosts of a workspace, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HostList {
    hosts: Vec<HostBody>,
}

/// List the hosts of a workspace.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/hosts", tag = "hosts",
    operation_id = "list_hosts",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    responses((status = 200, description = "Its hosts, oldest first.", body = HostList),
        Problems))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
) -> Result<axum::Json<HostList>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let hosts = app.list_hosts(&caller, &workspace).await?;
    Ok(axum::Json(HostList { hosts: hosts.into_iter().map(HostBody::from).collect() }))
}
