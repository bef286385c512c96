//! `PATCH …/tags/{tag}`: give a tag another name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult};
use crate::api::tags::TagPath;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// The new name of a tag.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameTagBody {
    /// 1 to 255 characters.
    #[schema(max_length = 255, example = "spring")]
    name: String,
}

/// A tag that has another name now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RenamedTagBody {
    tag: String,
}

/// Give a tag another name on all links at once; in `main` on your own links.
#[utoipa::path(patch, path = "/api/v1/workspaces/{workspace}/tags/{tag}", tag = "links",
    operation_id = "rename_tag",
    params(TagPath),
    request_body = RenameTagBody,
    responses(
        (status = 200, description = "The tag by its new name.", body = RenamedTagBody),
        (status = 409, description = "Links have the new name as a tag already.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn rename(
    BodyCall { app, caller, path, body }: BodyCall<TagPath, RenameTagBody>,
) -> JsonResult<RenamedTagBody> {
    let workspace = App::workspace_id(&path.workspace)?;
    let tag = app.rename_tag(&caller, &workspace, &path.tag, &body.name).await?;
    Ok(axum::Json(RenamedTagBody { tag }))
}
