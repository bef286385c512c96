//! `DELETE …/invitations/{id}`: take an invitation back.

use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::call::{Call, EmptyResult};
use crate::app::App;
use crate::problem::Problems;

/// `/workspaces/{workspace}/invitations/{id}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct InvitationPath {
    /// The workspace's id.
    workspace: String,
    /// The invitation's number.
    id: i64,
}

/// Revoke an invitation. Its link no longer works.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/invitations/{id}", tag = "members",
    operation_id = "revoke_invitation",
    params(InvitationPath),
    responses((status = 204, description = "Revoked."), Problems))]
pub(crate) async fn revoke(Call { app, caller, path }: Call<InvitationPath>) -> EmptyResult {
    app.revoke_invitation(&caller, &App::workspace_id(&path.workspace)?, path.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
