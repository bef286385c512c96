//! `POST /api/v1/auth/login`: sign in.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::SessionBody;
use crate::api::call::{JsonResult, PublicBodyCall};
use crate::problem::Problems;

/// Who signs in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginBody {
    /// The account's address.
    #[schema(format = "email")]
    email: String,
    /// Its password.
    #[schema(format = "password")]
    password: String,
}

/// Sign in.
#[utoipa::path(post, path = "/api/v1/auth/login", tag = "account", operation_id = "log_in", security(()),
    request_body = LoginBody,
    responses((status = 200, description = "Signed in.", body = SessionBody), Problems))]
pub(crate) async fn login(
    PublicBodyCall { app, client, body }: PublicBodyCall<LoginBody>,
) -> JsonResult<SessionBody> {
    Ok(axum::Json(app.log_in(&body.email, &body.password, client).await?.into()))
}
