//! `DELETE …/links/{code}`: delete a link, restorable.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Delete a link. It stops redirecting at once and can be restored.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "delete_link",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("code" = String, Path, description = "The link's code."),
    ),
    responses((status = 204, description = "Deleted."), Problems))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, code)): Names<(String, String)>,
) -> Result<StatusCode, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    app.delete_link(&caller, &workspace, &code).await?;
    Ok(StatusCode::NO_CONTENT)
}
