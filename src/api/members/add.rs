//! `POST …/members`: let somebody into a workspace.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, CreatedResult, WorkspacePath, created};
use crate::api::members::{MemberBody, RoleName};
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
    params(WorkspacePath),
    request_body = NewMemberBody,
    responses(
        (status = 201, description = "They are in.", body = MemberBody),
        (status = 409, description = "They were in already.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn add(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, NewMemberBody>,
) -> CreatedResult<MemberBody> {
    let role = body.role.unwrap_or(RoleName::Member).into();
    let member = app.add_member(&caller, &path.workspace()?, &body.email, role).await?;
    Ok(created(member.into()))
}
