//! `GET /api/v1/keys`: one's API keys.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, JsonResult};
use crate::api::keys::KeyBody;
use crate::problem::Problems;

/// All of one's keys, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyList {
    keys: Vec<KeyBody>,
}

/// List one's API keys: at most 100.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys", operation_id = "list_keys",
    responses((status = 200, description = "The keys, oldest first.", body = KeyList), Problems))]
pub(crate) async fn list(Call { app, caller, .. }: Call) -> JsonResult<KeyList> {
    let keys = app.list_keys(&caller).await?;
    Ok(axum::Json(KeyList { keys: keys.into_iter().map(KeyBody::from).collect() }))
}
