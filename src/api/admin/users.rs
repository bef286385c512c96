//! `…/admin/users`: the accounts of the server, and who of them may sign in.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{BodyCall, Call, EmptyResult, JsonResult};
use crate::api::input::Params;
use crate::api::time::Time;
use crate::app::User;
use crate::problem::Problems;

/// Which accounts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UserParams {
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountBody {
    /// Its number.
    id: i64,
    /// Its address.
    email: String,
    /// What its owner is called; may be empty.
    name: String,
    /// Whether it administers the server.
    is_admin: bool,
    /// When it was made.
    created_at: Time,
    /// Since when it may not sign in.
    disabled_at: Option<Time>,
}

impl From<User> for AccountBody {
    fn from(user: User) -> Self {
        Self {
            id: user.id.0,
            email: user.email.to_string(),
            name: user.name,
            is_admin: user.admin_at.is_some(),
            created_at: user.created_at.into(),
            disabled_at: user.disabled_at.map(Time::from),
        }
    }
}

/// A page of accounts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserList {
    users: Vec<AccountBody>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

/// What becomes of the links that somebody made.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinksBody {
    /// Whether their links, in `main` and in their workspaces, are disabled or enabled as well.
    #[serde(default)]
    links: bool,
}

/// List the accounts, by address. Takes an administrator of the server.
#[utoipa::path(get, path = "/api/v1/admin/users", tag = "administration",
    operation_id = "list_users", params(UserParams),
    responses((status = 200, description = "A page of accounts.", body = UserList), Problems))]
pub(crate) async fn list(
    Call { app, caller, .. }: Call,
    Params(params): Params<UserParams>,
) -> JsonResult<UserList> {
    let page = app.list_users(&caller, params.cursor.as_deref().unwrap_or_default()).await?;
    let users = page.items.into_iter().map(AccountBody::from).collect();
    Ok(axum::Json(UserList { users, next_cursor: page.next }))
}

/// Disable an account: its sign-ins, tokens and keys are no good. Takes an administrator of the server;
/// those cannot be disabled here.
#[utoipa::path(post, path = "/api/v1/admin/users/{email}/disable", tag = "administration",
    operation_id = "disable_user",
    params(("email" = String, Path, description = "The account's address.")),
    request_body = LinksBody,
    responses((status = 204, description = "Disabled."), Problems))]
pub(crate) async fn disable(call: BodyCall<String, LinksBody>) -> EmptyResult {
    set_disabled(call, true).await
}

/// Enable a disabled account. Takes an administrator of the server.
#[utoipa::path(post, path = "/api/v1/admin/users/{email}/enable", tag = "administration",
    operation_id = "enable_user",
    params(("email" = String, Path, description = "The account's address.")),
    request_body = LinksBody,
    responses((status = 204, description = "Enabled."), Problems))]
pub(crate) async fn enable(call: BodyCall<String, LinksBody>) -> EmptyResult {
    set_disabled(call, false).await
}

async fn set_disabled(call: BodyCall<String, LinksBody>, disabled: bool) -> EmptyResult {
    let BodyCall { app, caller, path: email, body } = call;
    app.set_user_disabled(&caller, &email, disabled, body.links).await?;
    Ok(StatusCode::NO_CONTENT)
}
