//! API keys over HTTP: one endpoint a file, and the shape that a key has on the wire.

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::time::Time;
use crate::app::ApiKey;
use kurz_core::account::Scope;

/// An API key, without the key itself.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct KeyBody {
    /// Its number.
    id: i64,
    /// What it is for.
    name: String,
    /// How it begins, to tell one's keys apart.
    prefix: String,
    /// Its scopes: `read`, `create`, `manage`.
    scopes: Vec<&'static str>,
    /// The only workspace it may be used for; null: all that its owner can reach.
    workspace: Option<String>,
    /// When it was created.
    created_at: Time,
    /// From when on it is refused.
    expires_at: Option<Time>,
    /// When it was last used, to the minute.
    last_used_at: Option<Time>,
}

impl From<ApiKey> for KeyBody {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id.0,
            name: key.name,
            prefix: key.prefix,
            scopes: key.scopes.iter().map(Scope::as_str).collect(),
            workspace: key.workspace.map(|workspace| workspace.to_string()),
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(Time::from),
            last_used_at: key.last_used_at.map(Time::from),
        }
    }
}
