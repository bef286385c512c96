//! `DELETE /api/v1/keys/{id}`: take an API key back.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult};
use crate::problem::Problems;
use kurz_core::account::KeyId;

/// Take an API key back. It is refused from then on.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", operation_id = "revoke_key",
    params(("id" = i64, Path, description = "The key's number.")),
    responses((status = 204, description = "Revoked."), Problems))]
pub(crate) async fn revoke(Call { app, caller, path: id }: Call<i64>) -> EmptyResult {
    app.revoke_key(&caller, KeyId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
