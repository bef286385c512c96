//! `DELETE …/members/{email}`: put a member out, or leave.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// Put a member out. Everybody may leave by themselves, but for the last administrator.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/members/{email}", tag = "members", operation_id = "remove_member",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("email" = String, Path, description = "The member's address."),
    ),
    responses(
        (status = 204, description = "They are out."),
        (status = 409, description = "The last administrator.", body = Problem,
            content_type = "application/problem+json"),
        Problems,
    ))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, email)): Names<(String, String)>,
) -> Result<StatusCode, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    app.remove_member(&caller, &workspace, &email).await?;
    Ok(StatusCode::NO_CONTENT)
}
