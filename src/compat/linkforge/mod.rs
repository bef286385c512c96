//! The API of Linkforge: deterministic codes at `/shorten`, `/api/links` and `/workspaces/{workspace}/links`, for
//! a field `url`. The same URL in the same workspace gives the same link, as the native API does, and the answer
//! has the native shape.

mod wire;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::wire::LinkforgeNewLink;
use crate::api::call::{BodyCall, WorkspacePath};
use crate::api::links::{CreatedBody, LinkBody};
use crate::app::{App, MAIN};
use crate::problem::{Problem, Problems};
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;

/// The field of the native API, and that of Linkforge.
const NAMES: &[(&str, &str)] = &[("original_url", "url")];

pub(super) fn endpoints() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(shorten))
        .routes(routes!(create))
        .routes(routes!(create_in_workspace))
}

/// Create a link with a deterministic code, in the workspace of the key, or in `main`.
#[utoipa::path(post, path = "/shorten", tag = "linkforge", operation_id = "linkforge_shorten",
    request_body = LinkforgeNewLink,
    responses(
        (status = 201, description = "The link was created.", body = LinkBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
async fn shorten(
    BodyCall { app, caller, body, .. }: BodyCall<(), LinkforgeNewLink>,
) -> Result<Response, Problem> {
    make(&app, &caller, &default_workspace(&caller)?, body).await
}

/// The same as `/shorten`.
#[utoipa::path(post, path = "/api/links", tag = "linkforge", operation_id = "linkforge_create",
    request_body = LinkforgeNewLink,
    responses(
        (status = 201, description = "The link was created.", body = LinkBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
async fn create(
    BodyCall { app, caller, body, .. }: BodyCall<(), LinkforgeNewLink>,
) -> Result<Response, Problem> {
    make(&app, &caller, &default_workspace(&caller)?, body).await
}

/// Create a link with a deterministic code in a workspace.
#[utoipa::path(post, path = "/workspaces/{workspace}/links", tag = "linkforge",
    operation_id = "linkforge_create_in_workspace", params(WorkspacePath),
    request_body = LinkforgeNewLink,
    responses(
        (status = 201, description = "The link was created.", body = LinkBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
async fn create_in_workspace(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, LinkforgeNewLink>,
) -> Result<Response, Problem> {
    make(&app, &caller, &path.workspace()?, body).await
}

/// The only workspace that the caller's key is for, or `main`.
fn default_workspace(caller: &Caller) -> Result<WorkspaceId, Problem> {
    let only = caller.identity().and_then(|identity| identity.only_workspace.clone());
    Ok(only.map_or_else(|| App::workspace_id(MAIN), Ok)?)
}

async fn make(
    app: &App,
    caller: &Caller,
    workspace: &WorkspaceId,
    body: LinkforgeNewLink,
) -> Result<Response, Problem> {
    let created = app.create_link(caller, workspace, &body.into()).await;
    let created = created.map_err(|error| Problem::from(error).renaming(NAMES))?;
    let status = if created.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, axum::Json(CreatedBody::from(created))).into_response())
}
