//! API keys, on behalf of their owners. Making one takes somebody who signed in: a key that could
//! make keys would outlive its own end.

use crate::app::people::{self, FreshKey, NewKey};
use crate::app::{Actor, App, AppError, FieldError};
use crate::store::ApiKey;
use kurz_core::account::{Caller, KeyId, Scope, Scopes, access};
use kurz_core::time::Timestamp;

/// A key that is asked for.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    /// What it is for.
    pub name: String,
    /// What it is good for.
    pub scopes: Vec<String>,
    /// The only workspace it is good for.
    pub workspace: Option<String>,
    /// From when on it is no good.
    pub expires_at: Option<Timestamp>,
}

impl App {
    /// Make a key. It is shown this once.
    pub async fn create_key(
        &self,
        caller: &Caller,
        request: &KeyRequest,
    ) -> Result<FreshKey, AppError> {
        let id = access::signed_in(caller)?.id;
        let name = people::read_name(&request.name)?;
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
        self.people.add_key(id, new, &Actor::of(caller)).await
    }

    /// The caller's keys, oldest first.
    pub async fn list_keys(&self, caller: &Caller) -> Result<Vec<ApiKey>, AppError> {
        let id = access::to_whole_account(caller, Scope::Read)?.id;
        self.people.list_keys(id).await
    }

    /// Take a key back. It is no good from then on.
    pub async fn revoke_key(&self, caller: &Caller, key: KeyId) -> Result<(), AppError> {
        let id = access::to_whole_account(caller, Scope::Manage)?.id;
        let hash = self.people.revoke_key(id, key, &Actor::of(caller)).await?;
        self.known.forget_key(&hash);
        Ok(())
    }
}
