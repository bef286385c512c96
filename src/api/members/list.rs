//! `GET …/members`: who is in a workspace.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::api::input::Params;
use crate::api::members::MemberBody;
use crate::problem::Problems;

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
    params(WorkspacePath, MemberParams),
    responses((status = 200, description = "A page of members.", body = MemberList), Problems))]
pub(crate) async fn list(
    Call { app, caller, path }: Call<WorkspacePath>,
    Params(params): Params<MemberParams>,
) -> JsonResult<MemberList> {
    let page = app
        .list_members(&caller, &path.workspace()?, params.cursor.as_deref(), params.limit)
        .await?;
    let members = page.items.into_iter().map(MemberBody::from).collect();
    Ok(axum::Json(MemberList { members, next_cursor: page.next }))
}
