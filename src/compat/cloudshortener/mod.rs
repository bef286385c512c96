//! The API of Cloudshortener: `/v1/shorten` with counter codes in `main`, and a monthly limit for each
//! user.

mod wire;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::wire::{ShortenAnswer, ShortenBody};
use crate::api::call::{BodyCall, JsonResult};
use crate::app::{App, LinkRequest};
use crate::problem::{Problem, Problems};
use kurz_core::link::Strategy;

/// The field of the native API, and that of Cloudshortener.
const NAMES: &[(&str, &str)] = &[("original_url", "targetUrl")];

pub(super) fn endpoints() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(shorten))
}

/// Create a link that counts against the caller's links of the month.
#[utoipa::path(post, path = "/v1/shorten", tag = "cloudshortener", operation_id = "cloudshortener_shorten",
    request_body = ShortenBody,
    responses(
        (status = 200, description = "The link was created.", body = ShortenAnswer),
        Problems,
        (status = 429, description = "The links of this month are used up, or it was asked for too \
            often.", body = Problem, content_type = "application/problem+json"),
    ))]
async fn shorten(
    BodyCall { app, caller, body, .. }: BodyCall<(), ShortenBody>,
) -> JsonResult<ShortenAnswer> {
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
