//! `GET …/links/{code}/stats`: how often a link was followed.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::Names;
use crate::api::time::Time;
use crate::app::App;
use crate::problem::{Problem, Problems};

/// The counts of a link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinkStats {
    /// Redirects so far.
    redirect_count: i64,
    /// Their mean latency on the server, in milliseconds.
    avg_redirect_ms: f64,
    /// The latest of them.
    last_redirect_at: Option<Time>,
    /// How often it may be followed in a UTC calendar month; 0: any number of times.
    hit_limit: i64,
    /// How often it was followed in this month.
    hits_this_month: i64,
}

/// The counts of a link.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/stats", tag = "links",
    operation_id = "link_stats",
    params(
        ("workspace" = String, Path, description = "The workspace's id."),
        ("code" = String, Path, description = "The link's code."),
    ),
    responses((status = 200, description = "The counts.", body = LinkStats), Problems))]
pub(crate) async fn stats(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names((workspace, code)): Names<(String, String)>,
) -> Result<axum::Json<LinkStats>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    let shown = app.show_link(&caller, &workspace, &code).await?;
    Ok(axum::Json(LinkStats {
        redirect_count: shown.link.redirect_count,
        avg_redirect_ms: shown.link.avg_redirect_ms,
        last_redirect_at: shown.link.last_redirect_at.map(Time::from),
        hit_limit: shown.hit_limit,
        hits_this_month: shown.hits_this_month,
    }))
}
