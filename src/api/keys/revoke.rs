//! `DELETE /api/v1/keys/{id}`: take an API key back.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::App;
use crate::problem::{Problem, Problems};
use kurz_core::account::KeyId;

/// Take an API key back. It is refused from then on.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", operation_id = "revoke_key",
    params(("id" = i64, Path, description = "The key's number.")),
    responses((status = 204, description = "Taken back."), Problems))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(id): Names<i64>,
) -> Result<StatusCode, Problem> {
    app.revoke_key(&caller, KeyId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
