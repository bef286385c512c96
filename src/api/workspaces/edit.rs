//! `PATCH /api/v1/workspaces/{workspace}`: change a workspace.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult, WorkspacePath};
use crate::api::input::{change, set};
use crate::api::workspaces::{WorkspaceBody, WorkspaceStrategy};
use crate::app::{Change, WorkspacePatch};
use crate::problem::Problems;
use kurz_core::link::Strategy;

/// What to change; what is not there stays, what is null goes back to what it is without a word.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditWorkspaceBody {
    /// How its new links get their codes. Codes that exist stay.
    #[serde(default, deserialize_with = "set")]
    #[schema(value_type = WorkspaceStrategy)]
    strategy: Option<WorkspaceStrategy>,
    /// Hits a month for each of its links; 0: any number; null: what the server says.
    #[serde(default, deserialize_with = "change")]
    #[schema(value_type = Option<i64>, minimum = 0)]
    hit_limit: Change<Option<i64>>,
}

/// Change a workspace.
#[utoipa::path(patch, path = "/api/v1/workspaces/{workspace}", tag = "workspaces",
    operation_id = "edit_workspace",
    params(WorkspacePath),
    request_body = EditWorkspaceBody,
    responses((status = 200, description = "The changed workspace.", body = WorkspaceBody),
        Problems))]
pub(crate) async fn edit(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, EditWorkspaceBody>,
) -> JsonResult<WorkspaceBody> {
    let patch =
        WorkspacePatch { strategy: body.strategy.map(Strategy::from), hit_limit: body.hit_limit };
    Ok(axum::Json(app.edit_workspace(&caller, &path.workspace()?, &patch).await?.into()))
}
