//! `DELETE …/links/{code}`: delete a link, restorable.

use crate::api::call::{Call, JsonResult, LinkPath};
use crate::api::links::LinkBody;
use crate::problem::Problems;

/// Delete a link. It stops redirecting at once and can be restored; the answer says until when.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "delete_link",
    params(LinkPath),
    responses(
        (status = 200, description = "The deleted link, with `restorable_until`.", body = LinkBody),
        Problems,
    ))]
pub(crate) async fn delete(Call { app, caller, path }: Call<LinkPath>) -> JsonResult<LinkBody> {
    Ok(axum::Json(app.delete_link(&caller, &path.workspace()?, &path.code).await?.into()))
}
