//! `POST …/invitations`: invite somebody into a workspace.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, CreatedResult, WorkspacePath, created};
use crate::api::invitations::InvitationBody;
use crate::api::members::RoleName;
use crate::problem::{Problem, Problems};

/// Somebody to be invited.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewInvitationBody {
    /// Their address.
    #[schema(format = "email")]
    email: String,
    /// What they may do once they accepted; member if you say nothing.
    role: Option<RoleName>,
}

/// An invitation that was just made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FreshInvitationBody {
    #[serde(flatten)]
    invitation: InvitationBody,
    /// The secret of the link: whoever has it can accept. Shown only here.
    token: String,
    /// The link to send to them. Shown only here.
    #[schema(format = "uri")]
    url: String,
}

/// Invite somebody into a workspace. They become a member when they accept, within 7 days. The answer is the
/// same whether or not the address has an account. A second invitation replaces the first, whose link then no
/// longer works.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/invitations", tag = "members",
    operation_id = "invite_member",
    params(WorkspacePath),
    request_body = NewInvitationBody,
    responses(
        (status = 201, description = "Invited.", body = FreshInvitationBody),
        (status = 409, description = "A member already.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn create(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, NewInvitationBody>,
) -> CreatedResult<FreshInvitationBody> {
    let role = body.role.unwrap_or(RoleName::Member).into();
    let fresh = app.invite_member(&caller, &path.workspace()?, &body.email, role).await?;
    Ok(created(FreshInvitationBody {
        invitation: fresh.invitation.into(),
        token: fresh.token,
        url: fresh.url,
    }))
}
