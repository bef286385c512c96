//! `POST …/links`: make a link, or get the one that exists.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::api::input::{Json, Names};
use crate::api::links::{LinkBody, NewLinkBody};
use crate::app::{App, Created, MAIN};
use crate::problem::{Problem, Problems};

/// Make a link in the workspace `main`.
#[utoipa::path(post, path = "/api/v1/links", tag = "links", request_body = NewLinkBody,
    responses(
        (status = 201, description = "The link was made.", body = LinkBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn create_in_main(
    State(app): State<Arc<App>>,
    Json(body): Json<NewLinkBody>,
) -> Result<Response, Problem> {
    create(&app, MAIN, body).await
}

/// Make a link in a workspace.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links", tag = "links",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    request_body = NewLinkBody,
    responses(
        (status = 201, description = "The link was made.", body = LinkBody),
        (status = 200, description = "The link existed already.", body = LinkBody),
        (status = 409, description = "The custom code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn create_in_workspace(
    State(app): State<Arc<App>>,
    Names(workspace): Names<String>,
    Json(body): Json<NewLinkBody>,
) -> Result<Response, Problem> {
    create(&app, &workspace, body).await
}

async fn create(app: &App, workspace: &str, body: NewLinkBody) -> Result<Response, Problem> {
    let workspace = App::workspace_id(workspace)?;
    let Created { link, is_new } = app.create_link(&workspace, &body.into()).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, axum::Json(LinkBody::from(link))).into_response())
}
