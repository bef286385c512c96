//! `DELETE …/links/{code}`: delete a link, restorable.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult, LinkPath};
use crate::problem::Problems;

/// Delete a link. It stops redirecting at once and can be restored.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "delete_link",
    params(LinkPath),
    responses((status = 204, description = "Deleted."), Problems))]
pub(crate) async fn delete(Call { app, caller, path }: Call<LinkPath>) -> EmptyResult {
    app.delete_link(&caller, &path.workspace()?, &path.code).await?;
    Ok(StatusCode::NO_CONTENT)
}
