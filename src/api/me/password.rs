//! `PATCH /api/v1/me/password`: change the password.

use serde::Deserialize;
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
    /// 8 to 71 bytes.
    #[schema(format = "password", min_length = 8, max_length = 71)]
    new_password: String,
}

/// Change the password. No token issued so far is good any more; the answer holds a new one.
#[utoipa::path(patch, path = "/api/v1/me/password", tag = "account", operation_id = "change_password", request_body = PasswordBody,
    responses((status = 200, description = "Changed.", body = SessionBody), Problems))]
pub(crate) async fn password(
    BodyCall { app, caller, body, .. }: BodyCall<(), PasswordBody>,
) -> JsonResult<SessionBody> {
    let session = app.change_password(&caller, &body.current_password, &body.new_password).await?;
    Ok(axum::Json(session.into()))
}
