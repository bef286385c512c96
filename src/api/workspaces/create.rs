//! `POST /api/v1/workspaces`: make a workspace.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, CreatedResult, created};
use crate::api::workspaces::{WorkspaceBody, WorkspaceStrategy};
use crate::app::{App, Change, WorkspacePatch};
use crate::problem::{Problem, Problems};
use kurz_core::link::Strategy;

/// A workspace to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWorkspaceBody {
    /// Its name.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "acme")]
    id: String,
    /// How its links get their codes; deterministic if you say nothing.
    strategy: Option<WorkspaceStrategy>,
    /// Hits a month for each of its links; 0: any number.
    #[schema(minimum = 0)]
    hit_limit: Option<i64>,
}

/// Create a workspace.
#[utoipa::path(post, path = "/api/v1/workspaces", tag = "workspaces",
    operation_id = "create_workspace",
    request_body = NewWorkspaceBody,
    responses(
        (status = 201, description = "The workspace was created.", body = WorkspaceBody),
        (status = 409, description = "The name is taken.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn create(
    BodyCall { app, caller, body, .. }: BodyCall<(), NewWorkspaceBody>,
) -> CreatedResult<WorkspaceBody> {
    let id = App::workspace_id(&body.id)?;
    let patch = WorkspacePatch {
        strategy: body.strategy.map(Strategy::from),
        hit_limit: body.hit_limit.map_or(Change::Keep, |limit| Change::To(Some(limit))),
    };
    let workspace = app.create_workspace(&caller, id, &patch).await?;
    Ok(created(workspace.into()))
}
