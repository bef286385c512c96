//! Invitations to workspaces over HTTP, for those who invite: one endpoint a file, and the shape that an
//! invitation has on the wire. Those who are invited answer under `me`.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::members::RoleName;
use crate::api::time::Time;
use crate::app::Invitation;

/// An invitation to a workspace that waits for an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct InvitationBody {
    /// Its number.
    id: i64,
    /// The workspace.
    workspace: String,
    /// The address that was invited, whether or not somebody has an account with it.
    #[schema(format = "email")]
    email: String,
    /// What they may do once they accepted.
    role: RoleName,
    /// The address of the administrator who invited them, while that account exists.
    #[schema(format = "email")]
    invited_by: Option<String>,
    /// When they were invited.
    created_at: Time,
    /// From when on it can no longer be accepted: after 7 days.
    expires_at: Time,
}

impl From<Invitation> for InvitationBody {
    fn from(invitation: Invitation) -> Self {
        Self {
            id: invitation.id,
            workspace: invitation.workspace.to_string(),
            email: invitation.email.to_string(),
            role: invitation.role.into(),
            invited_by: invitation.invited_by.map(|email| email.to_string()),
            created_at: invitation.created_at.into(),
            expires_at: invitation.expires_at.into(),
        }
    }
}
