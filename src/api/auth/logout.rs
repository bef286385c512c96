//! `POST /api/v1/auth/logout`: sign out everywhere.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult};
use crate::problem::Problems;

/// Sign out everywhere: no token issued so far is good any more. API keys stay.
#[utoipa::path(post, path = "/api/v1/auth/logout", tag = "account", operation_id = "log_out",
    responses((status = 204, description = "Signed out."), Problems))]
pub(crate) async fn logout(Call { app, caller, .. }: Call) -> EmptyResult {
    app.log_out(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
