//! `POST …/hosts`: give a host to a workspace.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::hosts::HostBody;
use crate::api::identity::Identified;
use crate::api::input::{Json, Names};
use crate::app::App;
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
    params(("workspace" = String, Path, description = "The workspace's id.")),
    request_body = NewHostBody,
    responses(
        (status = 201, description = "The host belongs to the workspace.", body = HostBody),
        (status = 409, description = "The host belongs to a workspace already.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
    Json(body): Json<NewHostBody>,
) -> Result<(StatusCode, axum::Json<HostBody>), Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let host = app.add_host(&caller, &workspace, &body.host).await?;
    Ok((StatusCode::CREATED, axum::Json(host.into())))
}
