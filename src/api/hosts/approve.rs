//! `POST …/hosts/{host}/approve`: consent to a pending host.

use crate::api::call::{Call, JsonResult};
use crate::api::hosts::{HostBody, HostPath};
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Consent to a pending host without a proof: for administrators of the server. A host that they add
/// themselves is active at once.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/hosts/{host}/approve", tag = "hosts",
    operation_id = "approve_host",
    params(HostPath),
    responses(
        (status = 200, description = "The host is active.", body = HostBody),
        (status = 409, description = "The host belongs to another workspace.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn approve(Call { app, caller, path }: Call<HostPath>) -> JsonResult<HostBody> {
    let host = app.approve_host(&caller, &App::workspace_id(&path.workspace)?, &path.host).await?;
    Ok(axum::Json(host.into()))
}
