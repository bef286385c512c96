//! `POST …/links/{code}/disable` and `…/enable`: for those who administer the server.

use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::call::{BodyCall, Call, EmptyResult, JsonResult, LinkPath};
use crate::api::links::LinkBody;
use crate::problem::{Problem, Problems};

/// Why a link is disabled.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DisableBody {
    /// `abuse`, `malware`, `phishing`, `legal` or `other`: visitors see it.
    #[schema(pattern = "^(abuse|malware|phishing|legal|other)$")]
    reason: String,
    /// More about it, for the link's owner.
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// Disable a link: it answers 410 with the reason, and neither an edit nor making it again changes
/// that. Takes an administrator of the server.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/disable",
    tag = "administration", operation_id = "disable_link",
    params(LinkPath),
    request_body = DisableBody,
    responses((status = 200, description = "The disabled link.", body = LinkBody), Problems))]
pub(crate) async fn disable(
    BodyCall { app, caller, path, body }: BodyCall<LinkPath, DisableBody>,
) -> JsonResult<LinkBody> {
    let note = body.note.as_deref();
    let link =
        app.disable_link(&caller, &path.workspace()?, &path.code, &body.reason, note).await?;
    Ok(axum::Json(link.into()))
}

/// Enable a disabled link, also one that was purged meanwhile: its URL may have its link again then.
/// Takes an administrator of the server.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/enable",
    tag = "administration", operation_id = "enable_link",
    params(LinkPath),
    responses(
        (status = 204, description = "Enabled."),
        (status = 409, description = "The link is not disabled.", content((Problem = "application/problem+json"))),
        Problems,
    ))]
pub(crate) async fn enable(Call { app, caller, path }: Call<LinkPath>) -> EmptyResult {
    app.enable_link(&caller, &path.workspace()?, &path.code).await?;
    Ok(StatusCode::NO_CONTENT)
}
