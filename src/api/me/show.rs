//! `GET /api/v1/me`: who one is.

use std::sync::Arc;

use axum::extract::State;

use crate::api::auth::UserBody;
use crate::api::identity::Identified;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Show your own account.
#[utoipa::path(get, path = "/api/v1/me", tag = "account", operation_id = "show_me",
    responses((status = 200, description = "The account.", body = UserBody), Problems))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
) -> Result<axum::Json<UserBody>, Problem> {
    Ok(axum::Json(app.me(&caller).await?.into()))
}
