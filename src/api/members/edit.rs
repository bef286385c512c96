//! `PATCH …/members/{email}`: give a member another role.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::{Json, Names};
use crate::api::members::{MemberBody, RoleName};
use crate::app::App;
use crate::problem::{Problem, Problems};

/// What to change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditMemberBody {
    /// What they may do from now on.
    role: RoleName,
}

/// Give a member another role. The last administrator stays one.
#[utoipa::path(patch, path = "/api/v1/workspaces/{workspace}/members/{email}", tag = "members", operation_id = "edit_member",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("email" = String, Path, description = "The member's address."),
    ),
    request_body = EditMemberBody,
    responses(
        (status = 200, description = "The changed member.", body = MemberBody),
        (status = 409, description = "The last administrator.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn edit(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, email)): Names<(String, String)>,
    Json(body): Json<EditMemberBody>,
) -> Result<axum::Json<MemberBody>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let member = app.change_role(&caller, &workspace, &email, body.role.into()).await?;
    Ok(axum::Json(member.into()))
}
