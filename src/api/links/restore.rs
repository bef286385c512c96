//! `POST …/links/{code}/restore`: bring a deleted link back.

use crate::api::call::{Call, JsonResult, LinkPath};
use crate::api::links::LinkBody;
use crate::problem::{Problem, Problems};

/// Restore a deleted link, until it is purged.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/restore", tag = "links",
    operation_id = "restore_link",
    params(LinkPath),
    responses(
        (status = 200, description = "The restored link.", body = LinkBody),
        (status = 410, description = "The link was purged.", content((Problem = "application/problem+json"))),
        (status = 409, description = "The link is not deleted.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn restore(Call { app, caller, path }: Call<LinkPath>) -> JsonResult<LinkBody> {
    Ok(axum::Json(app.restore_link(&caller, &path.workspace()?, &path.code).await?.into()))
}
