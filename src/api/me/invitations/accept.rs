//! `POST /api/v1/me/invitations/accept`: become a member of a workspace.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult};
use crate::api::me::invitations::InvitationAnswerBody;
use crate::api::members::MemberBody;
use crate::problem::{Problem, Problems};

/// The membership of somebody who accepted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AcceptedInvitationBody {
    /// The workspace that they are a member of now.
    workspace: String,
    #[serde(flatten)]
    member: MemberBody,
}

/// Accept an invitation.
#[utoipa::path(post, path = "/api/v1/me/invitations/accept", tag = "account",
    operation_id = "accept_invitation",
    request_body = InvitationAnswerBody,
    responses(
        (status = 200, description = "A member now.", body = AcceptedInvitationBody),
        (status = 409, description = "A member already, or the workspace is full.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn accept(
    BodyCall { app, caller, body, .. }: BodyCall<(), InvitationAnswerBody>,
) -> JsonResult<AcceptedInvitationBody> {
    let (workspace, member) = app.accept_invitation(&caller, &body.key()?).await?;
    let workspace = workspace.to_string();
    Ok(axum::Json(AcceptedInvitationBody { workspace, member: member.into() }))
}
