//! `GET …/hosts`: the hosts of a workspace.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::api::hosts::HostBody;
use crate::problem::Problems;

/// All hosts of a workspace, active ones first, each kind oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HostList {
    hosts: Vec<HostBody>,
}

/// List the hosts of a workspace.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/hosts", tag = "hosts",
    operation_id = "list_hosts",
    params(WorkspacePath),
    responses((status = 200, description = "Its hosts, active and pending.", body = HostList),
        Problems))]
pub(crate) async fn list(Call { app, caller, path }: Call<WorkspacePath>) -> JsonResult<HostList> {
    let hosts = app.list_hosts(&caller, &path.workspace()?).await?;
    Ok(axum::Json(HostList { hosts: hosts.into_iter().map(HostBody::from).collect() }))
}
