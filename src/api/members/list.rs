//! `GET …/members`: who is in a workspace.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::identity::Identified;
use crate::api::input::{Names, Params};
use crate::api::members::MemberBody;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Which members.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemberParams {
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
    /// Members in a page: 1 to 1,000, 50 if you say nothing.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<i64>,
}

/// A page of members.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemberList {
    members: Vec<MemberBody>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// List the members of a workspace.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/members", tag = "members", operation_id = "list_members",
    params(("workspace" = String, Path, description = "The workspace's id."), MemberParams),
    responses((status = 200, description = "A page of members.", body = MemberList), Problems))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
    Params(params): Params<MemberParams>,
) -> Result<axum::Json<MemberList>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let page =
        app.list_members(&caller, &workspace, params.cursor.as_deref(), params.limit).await?;
    let members = page.members.into_iter().map(MemberBody::from).collect();
    Ok(axum::Json(MemberList { members, next_cursor: page.next }))
}
