//! `PATCH …/links/{code}`: change a link.

use std::sync::Arc;

use axum::extract::State;

use crate::api::identity::Identified;
use crate::api::input::{Json, Names};
use crate::api::links::{EditBody, LinkBody};
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Change a link. Its code stays, unless `short_code` says another; then the old one is an alias.
#[utoipa::path(patch, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "edit_link",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("code" = String, Path, description = "The link's code."),
    ),
    request_body = EditBody,
    responses(
        (status = 200, description = "The changed link.", body = LinkBody),
        (status = 409, description = "Somebody else changed it at the same time, or the code is taken.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn edit(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, code)): Names<(String, String)>,
    Json(body): Json<EditBody>,
) -> Result<axum::Json<LinkBody>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    Ok(axum::Json(app.edit_link(&caller, &workspace, &code, &body.into()).await?.into()))
}
