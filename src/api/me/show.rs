//! `GET /api/v1/me`: who one is.

use crate::api::auth::UserBody;
use crate::api::call::{Call, JsonResult};
use crate::problem::Problems;

/// Look at one's own account.
#[utoipa::path(get, path = "/api/v1/me", tag = "account", operation_id = "show_me",
    responses((status = 200, description = "The account.", body = UserBody), Problems))]
pub(crate) async fn show(Call { app, caller, .. }: Call) -> JsonResult<UserBody> {
    Ok(axum::Json(app.me(&caller).await?.into()))
}
