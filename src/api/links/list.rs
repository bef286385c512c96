//! `GET …/links`: a page of links, filtered and sorted.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::identity::Identified;
use crate::api::input::{Names, Params};
use crate::api::links::LinkBody;
use crate::app::{App, LinkFilter};
use crate::problem::{Problem, Problems};

/// Which links.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListParams {
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
    /// Links in a page: 1 to 1,000, 50 if you say nothing.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<i64>,
    /// Text that the code, the title, the target or the note holds, in any case of the letters A to Z. Three
    /// letters or more are found by an index; a shorter text is looked for along the list, for a part of
    /// it at a time: a page may then have fewer links than `limit`, or none, and still a `next_cursor`.
    #[param(max_length = 200)]
    q: Option<String>,
    /// `ACTIVE`, `EXPIRED`, `DELETED` or `DISABLED`; all but the deleted if you say nothing.
    #[param(pattern = "^(ACTIVE|EXPIRED|DELETED|DISABLED)$")]
    status: Option<String>,
    /// `deterministic`, `counter`, `random` or `custom`.
    #[param(pattern = "^(deterministic|counter|random|custom)$")]
    strategy: Option<String>,
    /// A tag that they carry.
    #[param(max_length = 255)]
    tag: Option<String>,
    /// Whether archived links are among them: `false` if you say nothing, `true`, or `only` them. A list of
    /// deleted links has them in any case.
    #[param(pattern = "^(false|true|only)$")]
    archived: Option<String>,
    /// `created_at`, `updated_at`, `redirect_count` or `short_code`, with `-` in front from the
    /// largest down; `-created_at` if you say nothing.
    #[param(pattern = "^-?(created_at|updated_at|redirect_count|short_code)$")]
    sort: Option<String>,
}

/// A page of links.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinkList {
    links: Vec<LinkBody>,
    /// What to send as `cursor` for the next page; null on the last. Go on while there is one, also when
    /// this page is not full.
    next_cursor: Option<String>,
}

/// List the links of a workspace.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links", tag = "links",
    operation_id = "list_links",
    params(("workspace" = String, Path, description = "The workspace's id."), ListParams),
    responses((status = 200, description = "A page of links.", body = LinkList), Problems))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
    Params(params): Params<ListParams>,
) -> Result<axum::Json<LinkList>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let filter = LinkFilter {
        cursor: params.cursor,
        limit: params.limit,
        search: params.q,
        waits: false,
        status: params.status,
        strategy: params.strategy,
        tag: params.tag,
        archived: params.archived,
        sort: params.sort,
        mine: false,
    };
    let page = app.list_links(&caller, &workspace, &filter).await?;
    let links = page.items.into_iter().map(LinkBody::from).collect();
    Ok(axum::Json(LinkList { links, next_cursor: page.next }))
}
