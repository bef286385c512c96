//! API keys of the caller. Creating one takes a login: a key that could create keys would outlive its own
//! expiry.

use crate::app::accounts::{self, FreshKey, NewKey};
use crate::app::{Actor, App, AppError, FieldError};
use crate::store::ApiKey;
use kurz_core::account::{Caller, KeyId, Scope, Scopes, access};
use kurz_core::time::Timestamp;

/// A key that is asked for.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    /// What it is for.
    pub name: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// The only workspace that it can access.
    pub workspace: Option<String>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

impl App {
    /// Create a key. It is shown only this once.
    pub async fn create_key(
        &self,
        caller: &Caller,
        request: &KeyRequest,
    ) -> Result<FreshKey, AppError> {
        let id = access::signed_in(caller)?.id;
        let name = accounts::read_name(&request.name)?;
        let scopes: Result<Scopes, ()> = request.scopes.iter().map(|text| text.parse()).collect();
        let scopes = scopes.map_err(|()| {
            let detail = "scopes are read, create and manage";
            FieldError::new("scopes", "scope-unknown", detail)
        })?;
        let workspace = match request.workspace.as_deref() {
            None => None,
            Some(text) => {
                let workspace = Self::workspace_id(text)?;
                // One that the caller may not look at is one that does not exist.
                self.show_workspace(caller, &workspace).await?;
                Some(workspace)
            }
        };
        let new = NewKey { name, scopes, workspace, expires_at: request.expires_at };
        self.accounts.add_key(id, new, &Actor::of(caller)).await
    }

    /// The caller's keys, oldest first.
    pub async fn list_keys(&self, caller: &Caller) -> Result<Vec<ApiKey>, AppError> {
        let id = access::to_whole_account(caller, Scope::Read)?.id;
        self.accounts.list_keys(id).await
    }

    /// Revoke a key.
    pub async fn revoke_key(&self, caller: &Caller, key: KeyId) -> Result<(), AppError> {
        let id = access::to_whole_account(caller, Scope::Manage)?.id;
        let hash = self.accounts.revoke_key(id, key, &Actor::of(caller)).await?;
        self.credentials.keys.invalidate_where(|known, _| known.as_slice() == hash.as_slice());
        Ok(())
    }
}
