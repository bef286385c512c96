//! `GET …/tags`: the tags of a workspace's links, by name.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::api::input::Params;
use crate::app::TagCount;
use crate::problem::Problems;

/// Which tags.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TagParams {
    /// Whether to say how many clicks their links have.
    #[serde(default)]
    stats: bool,
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
    /// Tags in a page: 1 to 1,000, 50 if you say nothing.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// A tag.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TagBody {
    tag: String,
    /// Links that have it, archived and expired ones included; 0 where only deleted links have it.
    links: i64,
    /// Clicks of those links, with `stats=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    clicks: Option<i64>,
}

/// A page of tags.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TagList {
    tags: Vec<TagBody>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// List the tags of a workspace's links; in `main` those of your own links.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/tags", tag = "links",
    operation_id = "list_tags",
    params(WorkspacePath, TagParams),
    responses((status = 200, description = "A page of tags, by name.", body = TagList), Problems))]
pub(crate) async fn list(
    Call { app, caller, path }: Call<WorkspacePath>,
    Params(params): Params<TagParams>,
) -> JsonResult<TagList> {
    let TagParams { stats, cursor, limit } = params;
    let page = app.list_tags(&caller, &path.workspace()?, stats, cursor.as_deref(), limit).await?;
    let body =
        |TagCount { tag, links, clicks }| TagBody { tag, links, clicks: stats.then_some(clicks) };
    Ok(axum::Json(TagList {
        tags: page.items.into_iter().map(body).collect(),
        next_cursor: page.next,
    }))
}
