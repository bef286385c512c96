//! `GET …/invitations`: the invitations of a workspace that wait for an answer.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::api::invitations::InvitationBody;
use crate::problem::Problems;

/// The invitations of a workspace that wait for an answer, oldest first: at most 100.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InvitationList {
    invitations: Vec<InvitationBody>,
}

/// List the invitations of a workspace that wait for an answer.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/invitations", tag = "members",
    operation_id = "list_invitations",
    params(WorkspacePath),
    responses((status = 200, description = "The invitations.", body = InvitationList), Problems))]
pub(crate) async fn list(
    Call { app, caller, path }: Call<WorkspacePath>,
) -> JsonResult<InvitationList> {
    let found = app.list_invitations(&caller, &path.workspace()?).await?;
    let invitations = found.into_iter().map(InvitationBody::from).collect();
    Ok(axum::Json(InvitationList { invitations }))
}
