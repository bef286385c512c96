//! `POST /api/v1/keys`: make an API key.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::call::{BodyCall, CreatedResult, created};
use crate::api::keys::KeyBody;
use crate::api::time::Time;
use crate::app::KeyRequest;
use crate::problem::Problems;

/// A key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKeyBody {
    /// What it is for.
    #[schema(max_length = 100)]
    name: Option<String>,
    /// What it is good for: `read`, `create`, `manage`.
    #[schema(min_items = 1, max_items = 3)]
    scopes: Vec<String>,
    /// The only workspace it is good for.
    workspace: Option<String>,
    /// From when on it is refused.
    expires_at: Option<Time>,
}

/// A key that was just made.
#[derive(Serialize, ToSchema)]
pub(crate) struct FreshKeyBody {
    #[serde(flatten)]
    key: KeyBody,
    /// The key itself. It is shown this once: keep it.
    #[serde(rename = "key")]
    secret: String,
}

/// Make an API key. It takes the token of a sign-in; the key is shown this once.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", operation_id = "create_key", request_body = NewKeyBody,
    responses((status = 201, description = "The key was made.", body = FreshKeyBody), Problems))]
pub(crate) async fn create(
    BodyCall { app, caller, body, .. }: BodyCall<(), NewKeyBody>,
) -> CreatedResult<FreshKeyBody> {
    let request = KeyRequest {
        name: body.name.unwrap_or_default(),
        scopes: body.scopes,
        workspace: body.workspace,
        expires_at: body.expires_at.map(Into::into),
    };
    let fresh = app.create_key(&caller, &request).await?;
    let body = FreshKeyBody { key: fresh.key.into(), secret: fresh.secret };
    Ok(created(body))
}
