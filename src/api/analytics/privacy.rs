//! `GET` and `PUT …/privacy`: what a workspace keeps about visitors.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, Call, JsonResult, LinkPath, WorkspacePath};
use crate::app::{AppError, FieldError, WorkspacePrivacy};
use crate::problem::Problems;
use kurz_core::analytics::AnalyticsMode;

const DAY: Duration = Duration::from_hours(24);

/// What a workspace says itself about visitors; null everywhere: what the server says.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PrivacyBody {
    /// `off` (counts only), `aggregate` (sums by day after two days) or `events`; not wider than the server's.
    #[schema(pattern = "^(off|aggregate|events)$")]
    mode: Option<String>,
    /// How many days events are kept; then sums by day are.
    #[schema(minimum = 0, maximum = 36_500)]
    keep: Option<u32>,
    /// Which requests not to be tracked are honoured beside those that the server honours: `gpc`, `dnt`, both with a
    /// comma, or `none`.
    honour: Option<String>,
    /// Networks and addresses whose clicks stand apart.
    #[schema(example = json!(["203.0.113.0/24"]))]
    exclude: Option<Vec<String>>,
    /// Dimensions that are not shown.
    #[schema(example = json!(["city"]))]
    panels_off: Option<Vec<String>>,
}

impl From<WorkspacePrivacy> for PrivacyBody {
    fn from(privacy: WorkspacePrivacy) -> Self {
        let days =
            |keep: Duration| u32::try_from(keep.as_secs() / DAY.as_secs()).unwrap_or(u32::MAX);
        Self {
            mode: privacy.mode.map(|mode| mode.as_str().to_owned()),
            keep: privacy.keep.map(days),
            honour: privacy.honour,
            exclude: privacy.exclude,
            panels_off: privacy.panels_off,
        }
    }
}

impl PrivacyBody {
    fn read(self) -> Result<WorkspacePrivacy, AppError> {
        let mode = read_mode(self.mode.as_deref())?;
        if self.keep.is_some_and(|days| days > 36_500) {
            let detail = "events are kept for 0 to 36500 days";
            return Err(FieldError::new("keep", "analytics-invalid", detail).into());
        }
        Ok(WorkspacePrivacy {
            mode,
            keep: self.keep.map(|days| DAY * days),
            honour: self.honour,
            exclude: self.exclude,
            panels_off: self.panels_off,
        })
    }
}

fn read_mode(name: Option<&str>) -> Result<Option<AnalyticsMode>, AppError> {
    let read = |name: &str| {
        AnalyticsMode::parse(name).ok_or_else(|| {
            let detail = "a mode is off, aggregate or events";
            FieldError::new("mode", "analytics-invalid", detail).into()
        })
    };
    name.map(read).transpose()
}

/// What a link says itself about visitors; null: what its workspace says.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LinkPrivacyBody {
    /// `off` (counts only), `aggregate` (sums by day after two days) or `events`. Of this and the workspace's mode the
    /// narrower one counts.
    #[schema(pattern = "^(off|aggregate|events)$")]
    mode: Option<String>,
}

/// What a workspace keeps about visitors.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/privacy", tag = "analytics",
    operation_id = "show_privacy",
    params(WorkspacePath),
    responses((status = 200, description = "The settings.", body = PrivacyBody), Problems))]
pub(crate) async fn show(
    Call { app, caller, path }: Call<WorkspacePath>,
) -> JsonResult<PrivacyBody> {
    Ok(axum::Json(app.privacy(&caller, &path.workspace()?).await?.into()))
}

/// Set what a workspace keeps about visitors. What a narrower mode does not keep is removed within an hour. Takes the
/// role `admin`.
#[utoipa::path(put, path = "/api/v1/workspaces/{workspace}/privacy", tag = "analytics",
    operation_id = "set_privacy",
    params(WorkspacePath),
    request_body = PrivacyBody,
    responses((status = 200, description = "The settings.", body = PrivacyBody), Problems))]
pub(crate) async fn set(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, PrivacyBody>,
) -> JsonResult<PrivacyBody> {
    let workspace = path.workspace()?;
    app.change_privacy(&caller, &workspace, &body.read()?).await?;
    Ok(axum::Json(app.privacy(&caller, &workspace).await?.into()))
}

/// What a link keeps about visitors.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/privacy", tag = "analytics",
    operation_id = "show_link_privacy",
    params(LinkPath),
    responses((status = 200, description = "The settings.", body = LinkPrivacyBody), Problems))]
pub(crate) async fn show_link(
    Call { app, caller, path }: Call<LinkPath>,
) -> JsonResult<LinkPrivacyBody> {
    let mode = app.link_mode(&caller, &path.workspace()?, &path.code).await?;
    Ok(axum::Json(LinkPrivacyBody { mode: mode.map(|mode| mode.as_str().to_owned()) }))
}

/// Set what a link keeps about visitors. What a narrower mode does not keep is removed within an hour. Takes the role
/// `admin`.
#[utoipa::path(put, path = "/api/v1/workspaces/{workspace}/links/{code}/privacy", tag = "analytics",
    operation_id = "set_link_privacy",
    params(LinkPath),
    request_body = LinkPrivacyBody,
    responses((status = 200, description = "The settings.", body = LinkPrivacyBody), Problems))]
pub(crate) async fn set_link(
    BodyCall { app, caller, path, body }: BodyCall<LinkPath, LinkPrivacyBody>,
) -> JsonResult<LinkPrivacyBody> {
    let workspace = path.workspace()?;
    let mode = read_mode(body.mode.as_deref())?;
    app.change_link_mode(&caller, &workspace, &path.code, mode).await?;
    Ok(axum::Json(body))
}
