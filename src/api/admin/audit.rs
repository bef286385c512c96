//! `GET /api/v1/admin/audit`: the log of changes.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{Call, JsonResult};
use crate::api::input::Params;
use crate::api::time::Time;
use crate::app::{AuditDetail, AuditEntry, AuditFilter};
use crate::problem::Problems;

/// Which changes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditParams {
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
    /// Changes in a page: 1 to 1,000, 50 if you say nothing.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<i64>,
    /// The email address of who did it.
    user: Option<String>,
    /// What was done, such as `edited` or `disabled`. `created` lists the links that were made.
    action: Option<String>,
    /// The kind of thing it was done to: `link`, `user`, `key`, `workspace`, `member` or `host`.
    kind: Option<String>,
}

/// A change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditBody {
    /// When.
    at: Time,
    /// What was done.
    action: String,
    /// To what kind of thing.
    kind: String,
    /// Which one: a link as `workspace/code`, a user as an email address.
    subject: String,
    /// The number of the account that did it.
    user_id: Option<i64>,
    /// Its email address, while it exists.
    email: Option<String>,
    /// The number of the key that it was done with.
    key_id: Option<i64>,
    /// The address that it was done from, or `command line`.
    client: Option<String>,
    /// More about it: changed `fields`, `old_target`, `reason`, `note`, `role`, `count`; of a
    /// disabled link `target`, `made_at`, `made_from`, `owner`.
    #[schema(value_type = Object)]
    detail: AuditDetail,
}

impl From<AuditEntry> for AuditBody {
    fn from(entry: AuditEntry) -> Self {
        Self {
            at: entry.at.into(),
            action: entry.action,
            kind: entry.kind,
            subject: entry.subject,
            user_id: entry.user,
            email: entry.email,
            key_id: entry.key,
            client: entry.client,
            detail: entry.detail,
        }
    }
}

/// A page of the audit log, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditList {
    changes: Vec<AuditBody>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// Look into the log of changes. Takes an administrator of the server.
#[utoipa::path(get, path = "/api/v1/admin/audit", tag = "administration",
    operation_id = "list_changes", params(AuditParams),
    responses((status = 200, description = "A page of the audit log.", body = AuditList), Problems))]
pub(crate) async fn audit(
    Call { app, caller, .. }: Call,
    Params(params): Params<AuditParams>,
) -> JsonResult<AuditList> {
    let AuditParams { cursor, limit, user, action, kind } = params;
    let page = app.list_audit(&caller, &AuditFilter { cursor, limit, user, action, kind }).await?;
    let changes = page.items.into_iter().map(AuditBody::from).collect();
    Ok(axum::Json(AuditList { changes, next_cursor: page.next }))
}
