//! `POST …/hosts`: give a host to a workspace.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, CreatedResult, WorkspacePath, created};
use crate::api::hosts::HostBody;
use crate::problem::{Problem, Problems};

/// A host to be given to a workspace.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHostBody {
    /// The host's name, without a port.
    #[schema(example = "go.acme.example")]
    host: String,
}

/// Give a host to a workspace. Its links answer there from then on.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/hosts", tag = "hosts",
    operation_id = "add_host",
    params(WorkspacePath),
    request_body = NewHostBody,
    responses(
        (status = 201, description = "The host belongs to the workspace.", body = HostBody),
        (status = 409, description = "The host belongs to a workspace already.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn add(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, NewHostBody>,
) -> CreatedResult<HostBody> {
    let host = app.add_host(&caller, &path.workspace()?, &body.host).await?;
    Ok(created(host.into()))
}
