//! The wire shape of Cloudshortener: `/v1/shorten` with counter codes in `main`, so many a month for
//! each user.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::identity::Identified;
use crate::api::input::Json;
use crate::app::{App, LinkRequest};
use crate::problem::{Problem, Problems};
use kurz_core::link::Strategy;

/// How this shape names the fields that an error may name.
const NAMES: &[(&str, &str)] = &[("original_url", "targetUrl")];

/// A link to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ShortenBody {
    target_url: String,
}

/// A link that was made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShortenAnswer {
    /// A sentence for people.
    message: String,
    target_url: String,
    short_url: String,
    shortcode: String,
    /// Links that the user may make in a UTC calendar month; null: any number.
    user_quota: Option<i64>,
    /// How many of them are left; null: any number.
    remaining_quota: Option<i64>,
}

/// Make a link of one's own that counts against the links of the month.
#[utoipa::path(post, path = "/v1/shorten", tag = "cloudshortener", operation_id = "cloudshortener_shorten",
    request_body = ShortenBody,
    responses(
        (status = 200, description = "The link was made.", body = ShortenAnswer),
        Problems,
        (status = 429, description = "The links of this month are used up, or it was asked for too \
            often.", body = Problem, content_type = "application/problem+json"),
    ))]
pub(super) async fn shorten(
    State(app): State<Arc<App>>,
    Identified(caller): Identified,
    Json(body): Json<ShortenBody>,
) -> Result<axum::Json<ShortenAnswer>, Problem> {
    let request = LinkRequest {
        original_url: body.target_url,
        strategy: Some(Strategy::Counter),
        ..LinkRequest::default()
    };
    let metered = app.create_metered_link(&caller, &request).await;
    let metered = metered.map_err(|error| Problem::from(error).renaming(NAMES))?;
    let shown = metered.created.link;
    let (target_url, short_url) = (shown.link.target, shown.short_url);
    Ok(axum::Json(ShortenAnswer {
        message: format!("Successfully shortened {target_url} to {short_url}"),
        target_url,
        short_url,
        shortcode: shown.link.code.to_string(),
        user_quota: metered.limit,
        remaining_quota: metered.left,
    }))
}
