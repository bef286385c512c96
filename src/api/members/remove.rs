//! `DELETE …/members/{email}`: put a member out, or leave.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult};
use crate::api::members::MemberPath;
use crate::problem::{Problem, Problems};

/// Put a member out. Everybody may leave by themselves, but for the last administrator.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/members/{email}", tag = "members", operation_id = "remove_member",
    params(MemberPath),
    responses(
        (status = 204, description = "They are out."),
        (status = 409, description = "The last administrator.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn remove(Call { app, caller, path }: Call<MemberPath>) -> EmptyResult {
    app.remove_member(&caller, &path.workspace()?, &path.email).await?;
    Ok(StatusCode::NO_CONTENT)
}
