//! `DELETE /api/v1/me`: delete one's own account.

use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, EmptyResult};
use crate::problem::{Problem, Problems};

/// The password, so that nobody deletes the account of somebody who left the room.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeaveBody {
    /// The account's password.
    #[schema(format = "password")]
    password: String,
}

/// Delete one's account with its keys and memberships. Its links in `main` are deleted; links in
/// other workspaces belong to those and stay. Refused to the last administrator of a workspace: `workspaces`
/// names them. Hand them over or delete them first.
#[utoipa::path(delete, path = "/api/v1/me", tag = "account", operation_id = "delete_me", request_body = LeaveBody,
    responses(
        (status = 204, description = "Deleted."),
        (status = 409, description = "The last administrator of workspaces.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn delete(
    BodyCall { app, caller, body, .. }: BodyCall<(), LeaveBody>,
) -> EmptyResult {
    app.delete_account(&caller, &body.password).await?;
    Ok(StatusCode::NO_CONTENT)
}
