//! `POST /api/v1/me/invitations/decline`: stay out of a workspace.

use http::StatusCode;

use crate::api::call::{BodyCall, EmptyResult};
use crate::api::me::invitations::InvitationAnswerBody;
use crate::problem::Problems;

/// Decline an invitation.
#[utoipa::path(post, path = "/api/v1/me/invitations/decline", tag = "account",
    operation_id = "decline_invitation",
    request_body = InvitationAnswerBody,
    responses((status = 204, description = "Declined."), Problems))]
pub(crate) async fn decline(
    BodyCall { app, caller, body, .. }: BodyCall<(), InvitationAnswerBody>,
) -> EmptyResult {
    app.decline_invitation(&caller, &body.key()?).await?;
    Ok(StatusCode::NO_CONTENT)
}
