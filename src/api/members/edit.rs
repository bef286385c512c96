//! `PATCH …/members/{email}`: give a member another role.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult};
use crate::api::members::{MemberBody, MemberPath, RoleName};
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
    params(MemberPath),
    request_body = EditMemberBody,
    responses(
        (status = 200, description = "The changed member.", body = MemberBody),
        (status = 409, description = "The last administrator.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn edit(
    BodyCall { app, caller, path, body }: BodyCall<MemberPath, EditMemberBody>,
) -> JsonResult<MemberBody> {
    let member =
        app.change_role(&caller, &path.workspace()?, &path.email, body.role.into()).await?;
    Ok(axum::Json(member.into()))
}
