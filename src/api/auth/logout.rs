//! `POST /api/v1/auth/logout`: sign out everywhere.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::identity::Identified;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Sign out everywhere: all tokens and sessions end. API keys stay valid.
#[utoipa::path(post, path = "/api/v1/auth/logout", tag = "account", operation_id = "log_out",
    responses((status = 204, description = "Signed out."), Problems))]
pub(crate) async fn logout(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
) -> Result<StatusCode, Problem> {
    app.log_out(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
