//! `GET …/links/{code}`: one link.

use std::sync::Arc;

use axum::extract::State;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::api::links::LinkBody;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Look at a link.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}", tag = "links",
    operation_id = "show_link",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("code" = String, Path, description = "The link's code."),
    ),
    responses((status = 200, description = "The link.", body = LinkBody), Problems))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, code)): Names<(String, String)>,
) -> Result<axum::Json<LinkBody>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    Ok(axum::Json(app.show_link(&caller, &workspace, &code).await?.into()))
}
