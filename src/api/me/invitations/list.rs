//! `GET /api/v1/me/invitations`: the invitations for one's own address.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, JsonResult};
use crate::api::invitations::InvitationBody;
use crate::app::ReceivedInvitation;
use crate::problem::Problems;

/// An invitation for one's own address.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceivedInvitationBody {
    #[serde(flatten)]
    invitation: InvitationBody,
    /// Whether accepting it takes the `token` of its link, because the account was made after it: addresses
    /// are not verified.
    needs_link: bool,
}

/// The invitations for one's own address, oldest first: at most 100.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceivedInvitationList {
    invitations: Vec<ReceivedInvitationBody>,
}

/// List the invitations for your address that wait for an answer.
#[utoipa::path(get, path = "/api/v1/me/invitations", tag = "account", operation_id = "list_my_invitations",
    responses((status = 200, description = "The invitations.", body = ReceivedInvitationList), Problems))]
pub(crate) async fn list(Call { app, caller, .. }: Call) -> JsonResult<ReceivedInvitationList> {
    let body = |one: ReceivedInvitation| ReceivedInvitationBody {
        invitation: one.invitation.into(),
        needs_link: one.needs_link,
    };
    let found = app.list_received_invitations(&caller).await?;
    let invitations = found.into_iter().map(body).collect();
    Ok(axum::Json(ReceivedInvitationList { invitations }))
}
