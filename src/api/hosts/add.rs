//! `POST …/hosts`: name a host for a workspace.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, CreatedResult, WorkspacePath, created};
use crate::api::hosts::HostBody;
use crate::problem::{Problem, Problems};

/// A host that a workspace names.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHostBody {
    /// The host's name: letters, digits, dots and hyphens, other letters in punycode; without a port.
    #[schema(example = "go.acme.example")]
    host: String,
}

/// Name a host for a workspace. It is `pending`, without any effect, until it is proven
/// (`POST …/hosts/{host}/check`) or an administrator of the server approves it; one that an
/// administrator names is `active` at once. Two workspaces may have the same host pending.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/hosts", tag = "hosts",
    operation_id = "add_host",
    params(WorkspacePath),
    request_body = NewHostBody,
    responses(
        (status = 201, description = "The host is pending or active: `status` says which, `proof` what to publish.", body = HostBody),
        (status = 409, description = "The host belongs to a workspace already.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn add(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, NewHostBody>,
) -> CreatedResult<HostBody> {
    let host = app.add_host(&caller, &path.workspace()?, &body.host).await?;
    Ok(created(host.into()))
}
