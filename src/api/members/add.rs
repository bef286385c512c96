//! `POST …/members`: let somebody into a workspace.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::{Json, Names};
use crate::api::members::{MemberBody, RoleName};
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Somebody to be let in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMemberBody {
    /// The address of somebody who has an account.
    #[schema(format = "email")]
    email: String,
    /// What they may do; member if you say nothing.
    role: Option<RoleName>,
}

/// Let somebody who has an account into a workspace.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/members", tag = "members", operation_id = "add_member",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    request_body = NewMemberBody,
    responses(
        (status = 201, description = "They are in.", body = MemberBody),
        (status = 409, description = "They were in already.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn add(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
    Json(body): Json<NewMemberBody>,
) -> Result<(StatusCode, axum::Json<MemberBody>), Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let role = body.role.unwrap_or(RoleName::Member).into();
    let member = app.add_member(&caller, &workspace, &body.email, role).await?;
    Ok((StatusCode::CREATED, axum::Json(member.into())))
}
