//! `POST /api/v1/auth/login`: sign in.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::SessionBody;
use crate::api::input::Json;
use crate::app::App;
use crate::client_address::ClientAddress;
use crate::problem::{Problem, Problems};

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
    State(app): State<Arc<App>>,
    ClientAddress(client): ClientAddress,
    Json(body): Json<LoginBody>,
) -> Result<axum::Json<SessionBody>, Problem> {
    Ok(axum::Json(app.log_in(&body.email, &body.password, client).await?.into()))
}
