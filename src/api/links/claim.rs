//! `POST /api/v1/links/claim`: make links that were made without an account one's own.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, JsonResult};
use crate::api::input::Object;
use crate::api::links::LinkBody;
use crate::app::ClaimRequest;
use crate::problem::{Problem, Problems};

/// Links to be claimed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimBody {
    /// Up to 100 of them.
    #[schema(max_items = 100, min_items = 1)]
    #[schema(value_type = Vec<ClaimEntry>)]
    links: Vec<Object<ClaimEntry>>,
}

/// A link and its token.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimEntry {
    /// The link's code.
    short_code: String,
    /// What the answer to its making held.
    claim_token: String,
}

impl std::fmt::Debug for ClaimEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClaimEntry({})", self.short_code)
    }
}

/// A result for each, in order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClaimAnswer {
    results: Vec<ClaimResult>,
}

/// What became of one claim: `link` with 200, or `problem` with 404.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClaimResult {
    short_code: String,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<LinkBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

/// Make links one's own. Each token works once; the links no longer expire.
#[utoipa::path(post, path = "/api/v1/links/claim", tag = "links", operation_id = "claim_links", request_body = ClaimBody,
    responses(
        (status = 200, description = "A result for each link, in order.", body = ClaimAnswer),
        Problems,
    ))]
pub(crate) async fn claim(
    BodyCall { app, caller, body, .. }: BodyCall<(), ClaimBody>,
) -> JsonResult<ClaimAnswer> {
    let requests: Vec<ClaimRequest> = body
        .links
        .into_iter()
        .map(|Object(entry)| ClaimRequest { code: entry.short_code, token: entry.claim_token })
        .collect();
    let results = app.claim_links(&caller, &requests).await?;
    let results = requests.into_iter().zip(results).map(|(request, result)| match result {
        Ok(link) => ClaimResult {
            short_code: request.code,
            status: 200,
            link: Some(link.into()),
            problem: None,
        },
        Err(error) => {
            let problem = Problem::from(error);
            let status = problem.status().as_u16();
            ClaimResult { short_code: request.code, status, link: None, problem: Some(problem) }
        }
    });
    Ok(axum::Json(ClaimAnswer { results: results.collect() }))
}
