//! `POST …/hosts/{host}/check`: look for the proof of a pending host now.

use crate::api::call::{Call, JsonResult};
use crate::api::hosts::{HostBody, HostPath};
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Look for the proof of a pending host now. Once it is found, the host is active; the first workspace
/// that proves a host gets it. A host can be checked every 10 seconds.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/hosts/{host}/check", tag = "hosts",
    operation_id = "check_host",
    params(HostPath),
    responses(
        (status = 200, description = "The host is active.", body = HostBody),
        (status = 409, description = "No proof was found, or the host belongs to another workspace.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn check(Call { app, caller, path }: Call<HostPath>) -> JsonResult<HostBody> {
    let host = app.check_host(&caller, &App::workspace_id(&path.workspace)?, &path.host).await?;
    Ok(axum::Json(host.into()))
}
