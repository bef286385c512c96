//! `DELETE …/tags/{tag}`: take a tag from all links.

use http::StatusCode;

use crate::api::call::{Call, EmptyResult};
use crate::api::tags::TagPath;
use crate::app::App;
use crate::problem::Problems;

/// Take a tag from all links at once; in `main` from your own. The links stay.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/tags/{tag}", tag = "links",
    operation_id = "delete_tag",
    params(TagPath),
    responses((status = 204, description = "No link has the tag any more."), Problems))]
pub(crate) async fn delete(Call { app, caller, path }: Call<TagPath>) -> EmptyResult {
    app.delete_tag(&caller, &App::workspace_id(&path.workspace)?, &path.tag).await?;
    Ok(StatusCode::NO_CONTENT)
}
