//! `POST …/links`: make a link, or get the one that exists.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::api::identity::Identified;
use crate::api::input::{Json, Names};
use crate::api::links::{CreatedBody, LinkBody, NewLinkBody};
use crate::app::{App, MAIN};
use crate::problem::{Problem, Problems};
use kurz_core::account::Caller;

/// Create a link in the workspace `main`. Without a credential it expires after some hours, and can
/// be claimed with its `claim_token` after signing in.
#[utoipa::path(post, path = "/api/v1/links", tag = "links",
    operation_id = "create_link_in_main", request_body = NewLinkBody,
    security((), ("bearer" = [])),
    responses(
        (status = 201, description = "The link was created.", body = CreatedBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn create_in_main(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Json(body): Json<NewLinkBody>,
) -> Result<Response, Problem> {
    create(&app, &caller, MAIN, body).await
}

/// Create a link in a workspace. In `main` it needs no credential.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links", tag = "links",
    operation_id = "create_link",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    request_body = NewLinkBody,
    security((), ("bearer" = [])),
    responses(
        (status = 201, description = "The link was created.", body = LinkBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn create_in_workspace(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
    Json(body): Json<NewLinkBody>,
) -> Result<Response, Problem> {
    create(&app, &caller, &workspace, body).await
}

async fn create(
    app: &App,
    caller: &Caller,
    workspace: &str,
    body: NewLinkBody,
) -> Result<Response, Problem> {
    let workspace = App::workspace_id(workspace)?;
    let created = app.create_link(caller, &workspace, &body.into()).await?;
    let status = if created.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, axum::Json(CreatedBody::from(created))).into_response())
}
