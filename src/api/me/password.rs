//! `PATCH /api/v1/me/password`: change the password.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::auth::SessionBody;
use crate::api::call::{BodyCall, JsonResult};
use crate::problem::Problems;

/// The old password and the new one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordBody {
    /// The password so far.
    #[schema(format = "password")]
    current_password: String,
    /// 8 to 71 characters.
    #[schema(format = "password", min_length = 8, max_length = 71)]
    new_password: String,
    /// Whether to revoke all API keys of the account as well; they keep working if you say nothing.
    #[serde(default)]
    revoke_keys: bool,
}

/// The sign-in after a change of the password, and what became of the API keys.
#[derive(Serialize, ToSchema)]
pub(crate) struct PasswordChangeBody {
    #[serde(flatten)]
    session: SessionBody,
    /// How many API keys were revoked with it.
    revoked_keys: usize,
    /// How many API keys of the account still work: revoke them if somebody else may have one.
    active_keys: i64,
}

/// Change the password. All tokens issued so far end; the answer holds a new one. API keys keep working unless
/// `revoke_keys` is true; the answer says how many do.
#[utoipa::path(patch, path = "/api/v1/me/password", tag = "account", operation_id = "change_password", request_body = PasswordBody,
    responses((status = 200, description = "Changed.", body = PasswordChangeBody), Problems))]
pub(crate) async fn password(
    BodyCall { app, caller, body, .. }: BodyCall<(), PasswordBody>,
) -> JsonResult<PasswordChangeBody> {
    let PasswordBody { current_password, new_password, revoke_keys } = body;
    let changed =
        app.change_password(&caller, &current_password, &new_password, revoke_keys).await?;
    Ok(axum::Json(PasswordChangeBody {
        session: changed.session.into(),
        revoked_keys: changed.revoked_keys,
        active_keys: changed.active_keys,
    }))
}
