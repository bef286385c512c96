//! `GET /api/v1/me`: who one is.

use crate::api::auth::UserBody;
use crate::api::call::Call;
use crate::problem::{Problem, Problems};

/// Look at one's own account.
#[utoipa::path(get, path = "/api/v1/me", tag = "account", operation_id = "show_me",
    responses((status = 200, description = "The account.", body = UserBody), Problems))]
pub(crate) async fn show(Call { app, caller, .. }: Call) -> Result<axum::Json<UserBody>, Problem> {
    Ok(axum::Json(app.me(&caller).await?.into()))
}
