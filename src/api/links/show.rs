//! `GET …/links/{code}`: one link.

use crate::api::call::{Call, JsonResult, LinkPath};
use crate::api::links::LinkBody;
use crate::problem::Problems;

/// Look at a link.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "show_link",
    params(LinkPath),
    responses((status = 200, description = "The link.", body = LinkBody), Problems))]
pub(crate) async fn show(Call { app, caller, path }: Call<LinkPath>) -> JsonResult<LinkBody> {
    Ok(axum::Json(app.show_link(&caller, &path.workspace()?, &path.code).await?.into()))
}
