//! `POST …/links/bulk`: up to 1,000 links at once, in one transaction.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::{BULK_BYTES, Json, Names, Object};
use crate::api::links::{LinkBody, NewLinkBody};
use crate::app::{App, AppError, Created, LinkRequest};
use crate::problem::{Problem, Problems};

/// Most links in one call.
const MOST: usize = 1000;

/// Links to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BulkBody {
    /// Up to 1,000 of them.
    #[schema(max_items = 1000, min_items = 1)]
    #[schema(value_type = Vec<NewLinkBody>)]
    links: Vec<Object<NewLinkBody>>,
    /// All or none: if one is refused, nothing is stored and the answer is 422.
    atomic: Option<bool>,
}

/// A result for each, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkAnswer {
    results: Vec<BulkResult>,
}

/// What became of one link: `link` with 201 or 200, or `problem` with 4xx or 5xx.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BulkResult {
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<LinkBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

/// Make up to 1,000 links in one transaction.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/bulk", tag = "links",
    operation_id = "create_links",
    params(("workspace" = String, Path, description = "The workspace's id.")),
    request_body = BulkBody,
    responses(
        (status = 200, description = "A result for each link, in order.", body = BulkAnswer),
        Problems,
    ))]
pub(crate) async fn bulk(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Names(workspace): Names<String>,
    Json(body): Json<BulkBody, BULK_BYTES>,
) -> Result<axum::Json<BulkAnswer>, Problem> {
    let workspace = App::workspace_id(&workspace)?;
    if body.links.is_empty() {
        let detail = "A bulk call without links does nothing.";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bulk-empty", detail));
    }
    if body.links.len() > MOST {
        let detail = format!("A bulk call takes at most {MOST} links.");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "bulk-too-large", detail));
    }
    let atomic = body.atomic.unwrap_or(false);
    let requests: Vec<LinkRequest> =
        body.links.into_iter().map(|Object(link)| link.into()).collect();
    let results = app.create_links(&caller, &workspace, &requests, atomic).await?;
    Ok(axum::Json(BulkAnswer { results: results.into_iter().map(BulkResult::from).collect() }))
}

impl From<Result<Created, AppError>> for BulkResult {
    fn from(result: Result<Created, AppError>) -> Self {
        match result {
            Ok(Created { link, is_new, .. }) => Self {
                status: if is_new { 201 } else { 200 },
                link: Some(link.into()),
                problem: None,
            },
            Err(error) => {
                let problem = Problem::from(error);
                Self { status: problem.status().as_u16(), link: None, problem: Some(problem) }
            }
        }
    }
}
