//! `POST …/links/{code}/restore`: bring a deleted link back.

use std::sync::Arc;

use axum::extract::State;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::api::links::LinkBody;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Restore a deleted link.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/restore", tag = "links",
    operation_id = "restore_link",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("code" = String, Path, description = "The link's code."),
    ),
    responses(
        (status = 200, description = "The restored link.", body = LinkBody),
        (status = 409, description = "The link is not deleted.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, code)): Names<(String, String)>,
) -> Result<axum::Json<LinkBody>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    Ok(axum::Json(app.restore_link(&caller, &workspace, &code).await?.into()))
}
