//! API keys of the caller. Creating one takes a login: a key that could create keys would outlive its own
//! expiry.

use crate::app::accounts::{self, Accounts, FreshKey, NewKey};
use crate::app::{Action, Actor, App, AppError, FieldError, Resource};
use crate::store::{ApiKey, KeyInsert, Subject};
use kurz_core::account::{Caller, KeyId, Scope, Scopes, UserId, access, key_text};
use kurz_core::time::Timestamp;

/// Most keys of one user.
const KEYS: i64 = 100;

/// A key that is asked for.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    pub name: String,
    pub scopes: Vec<String>,
    /// The only workspace that it can access.
    pub workspace: Option<String>,
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

    pub async fn list_keys(&self, caller: &Caller) -> Result<Vec<ApiKey>, AppError> {
        let id = access::to_whole_account(caller, Scope::Read)?.id;
        self.accounts.list_keys(id).await
    }

    pub async fn revoke_key(&self, caller: &Caller, key: KeyId) -> Result<(), AppError> {
        let id = access::to_whole_account(caller, Scope::Manage)?.id;
        let hash = self.accounts.revoke_key(id, key, &Actor::of(caller)).await?;
        self.credentials.keys.invalidate_where(|known, _| known.as_slice() == hash.as_slice());
        Ok(())
    }
}

impl Accounts {
    /// Create a key for a user.
    pub async fn add_key(
        &self,
        user: UserId,
        new: NewKey,
        actor: &Actor,
    ) -> Result<FreshKey, AppError> {
        let now = self.clock.now();
        if new.scopes.is_empty() {
            let detail = "a key is good for at least one of read, create and manage";
            return Err(FieldError::new("scopes", "scopes-empty", detail).into());
        }
        if new.expires_at.is_some_and(|end| end <= now) {
            let detail = "expires_at must be in the future";
            return Err(FieldError::new("expires_at", "expires-at-past", detail).into());
        }
        let secret = key_text::fresh(&mut |bytes| self.entropy.fill(bytes));
        let hash = key_text::hash(&secret).ok_or(AppError::InvalidToken)?;
        let key = ApiKey {
            id: KeyId(self.store.take_numbers("key", 1).await?),
            user,
            name: new.name,
            prefix: key_text::prefix(&secret).to_owned(),
            scopes: new.scopes,
            workspace: new.workspace,
            created_at: now,
            expires_at: new.expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        let change = self.audit(actor, Subject::key(key.id), Action::KeyCreated).await?;
        match self.store.insert_key(&key, &hash, KEYS, &change).await? {
            KeyInsert::Done => Ok(FreshKey { secret, key }),
            KeyInsert::UserGone => Err(AppError::InvalidToken),
            KeyInsert::TooMany => {
                let detail = format!("a user has at most {KEYS} keys: revoke one first");
                Err(FieldError::new("name", "keys-too-many", detail).into())
            }
        }
    }

    /// A user's keys, oldest first: there are few enough for one list.
    pub async fn list_keys(&self, user: UserId) -> Result<Vec<ApiKey>, AppError> {
        Ok(self.store.list_keys(user, KeyId(0), KEYS).await?)
    }

    /// Revoke a key; its hash.
    pub async fn revoke_key(
        &self,
        user: UserId,
        id: KeyId,
        actor: &Actor,
    ) -> Result<Vec<u8>, AppError> {
        let change = self.audit(actor, Subject::key(id), Action::KeyRevoked).await?;
        let revoked = self.store.revoke_key(user, id, self.clock.now(), &change).await?;
        revoked.ok_or(AppError::NotFound(Resource::Key))
    }
}
