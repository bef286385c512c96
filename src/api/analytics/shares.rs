//! `POST`, `GET` and `DELETE …/analytics/shares`: analytics for people without an account.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{
    BodyCall, Call, CreatedResult, EmptyResult, JsonResult, WorkspacePath, created,
};
use crate::api::time::Time;
use crate::app::{AnalyticsShare, App, AppError, FieldError, ShareRequest, ShareScope, share_id};
use crate::problem::Problems;
use kurz_core::code::WorkspaceId;

/// What is shared.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewShareBody {
    /// `workspace`, `link` or `tag`.
    #[schema(pattern = "^(workspace|link|tag)$")]
    scope: String,
    /// The code of the link, or the tag.
    subject: Option<String>,
    /// The only range that is shown, by its name, such as `30d`.
    range: Option<String>,
    /// The only groups that are shown.
    groups: Option<Vec<String>>,
    /// Filters that always hold.
    #[serde(default)]
    filters: Vec<String>,
    /// What whoever opens it must enter.
    password: Option<String>,
    /// When it ends.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Time>,
    /// Whether search engines may list it; not, if you say nothing.
    #[serde(default)]
    index: bool,
}

/// A share.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShareBody {
    /// What it is revoked by.
    id: String,
    #[schema(pattern = "^(workspace|link|tag)$")]
    scope: String,
    /// The code of the link, or the tag.
    subject: Option<String>,
    range: Option<String>,
    groups: Option<Vec<String>>,
    filters: Vec<String>,
    /// Whether it takes a password.
    has_password: bool,
    expires_at: Option<Time>,
    index: bool,
    created_at: Time,
}

/// A share that was just made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FreshShareBody {
    #[serde(flatten)]
    share: ShareBody,
    /// Its address, which is shown this once.
    url: String,
}

/// The shares of a workspace.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShareList {
    shares: Vec<ShareBody>,
}

impl From<AnalyticsShare> for ShareBody {
    fn from(share: AnalyticsShare) -> Self {
        Self {
            id: share_id(&share),
            scope: share.scope,
            subject: share.subject,
            range: share.range,
            groups: share.groups,
            filters: share.filters,
            has_password: share.password_hash.is_some(),
            expires_at: share.expires_at.map(Time::from),
            index: share.is_indexed,
            created_at: share.created_at.into(),
        }
    }
}

impl NewShareBody {
    fn read(self) -> Result<ShareRequest, AppError> {
        let scope = match (self.scope.as_str(), self.subject) {
            ("workspace", None) => ShareScope::Workspace,
            ("link", Some(code)) => ShareScope::Link(code),
            ("tag", Some(tag)) => ShareScope::Tag(tag),
            _ => {
                let detail = "a scope is workspace, link or tag; the last two need a subject";
                return Err(FieldError::new("scope", "analytics-invalid", detail).into());
            }
        };
        Ok(ShareRequest {
            scope,
            range: self.range,
            groups: self.groups,
            filters: self.filters,
            password: self.password,
            expires_at: self.expires_at.map(Into::into),
            index: self.index,
        })
    }
}

/// Share analytics of a workspace, a link or a tag: whoever has the address sees them. Takes the role `admin`; in `main`
/// everybody shares links of their own.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/analytics/shares", tag = "analytics",
    operation_id = "create_share",
    params(WorkspacePath),
    request_body = NewShareBody,
    responses((status = 201, description = "The share, with its address.", body = FreshShareBody), Problems))]
pub(crate) async fn create(
    BodyCall { app, caller, path, body }: BodyCall<WorkspacePath, NewShareBody>,
) -> CreatedResult<FreshShareBody> {
    let fresh = app.create_share(&caller, &path.workspace()?, &body.read()?).await?;
    Ok(created(FreshShareBody { share: fresh.share.into(), url: fresh.url }))
}

/// List the shares of a workspace, oldest first.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/analytics/shares", tag = "analytics",
    operation_id = "list_shares",
    params(WorkspacePath),
    responses((status = 200, description = "The shares.", body = ShareList), Problems))]
pub(crate) async fn list(Call { app, caller, path }: Call<WorkspacePath>) -> JsonResult<ShareList> {
    let shares = app.list_shares(&caller, &path.workspace()?).await?;
    Ok(axum::Json(ShareList { shares: shares.into_iter().map(ShareBody::from).collect() }))
}

/// `/workspaces/{workspace}/analytics/shares/{share}`
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SharePath {
    /// The workspace's id.
    workspace: String,
    /// The share's id.
    share: String,
}

impl SharePath {
    fn workspace(&self) -> Result<WorkspaceId, AppError> {
        App::workspace_id(&self.workspace)
    }
}

/// Revoke a share.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/analytics/shares/{share}", tag = "analytics",
    operation_id = "revoke_share",
    params(SharePath),
    responses((status = 204, description = "Revoked."), Problems))]
pub(crate) async fn revoke(Call { app, caller, path }: Call<SharePath>) -> EmptyResult {
    app.revoke_share(&caller, &path.workspace()?, &path.share).await?;
    Ok(StatusCode::NO_CONTENT)
}
