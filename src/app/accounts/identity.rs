//! Authentication: from the credential of a request to a [`Caller`]. What was read from the store is
//! believed for a second, so a logout, a revocation or a disabled account takes effect within a second on
//! every instance, and at once on the instance where it was done.
//!
//! Invariant: nobody is locked out by the bad credentials of others, from the same address or another.
//! Whether a credential is good is only known after a lookup, so clients that showed too many bad ones
//! (`limits`) are looked up as well, a few at a time.

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use crate::app::accounts::credential_cache::FRESH;
use crate::app::{App, AppError};
use crate::cache::GenerationCache;
use crate::store::{self, ApiKey, User};
use kurz_core::account::{Caller, Credential, Identity, Scopes, key_text};

/// A key's last use is written down at most this often.
const TOUCH_EVERY: Duration = Duration::from_mins(1);

impl App {
    /// Who asks from `client`, by what stood after `Bearer`.
    pub async fn identify(
        &self,
        credential: Option<&str>,
        client: IpAddr,
    ) -> Result<Caller, AppError> {
        let identity = match credential {
            None if self.parts.policy.open => return Ok(Caller::OPEN.at(client)),
            None => return Ok(Caller::ANONYMOUS.at(client)),
            Some(text) if text.starts_with(key_text::START) => {
                self.identify_key(text, client).await?
            }
            Some(text) => self.identify_token(text, client).await?,
        };
        self.admit_call(&identity)?;
        Ok(Caller::user(identity).at(client))
    }

    async fn identify_token(&self, token: &str, client: IpAddr) -> Result<Identity, AppError> {
        let now = self.parts.clock.now();
        let claims = self.parts.tokens.read(token, now).ok_or(AppError::InvalidToken)?;
        let find = self.parts.store.find_user(&claims.email);
        let user = self.look_up(&self.credentials.users, &claims.email, find, client).await?;
        let user = user.ok_or_else(|| self.bad_credential(client))?;
        if user.token_version != claims.version || user.disabled_at.is_some() {
            return Err(AppError::InvalidToken);
        }
        Ok(self.identity(user, Scopes::ALL, Credential::Token))
    }

    async fn identify_key(&self, text: &str, client: IpAddr) -> Result<Identity, AppError> {
        let hash = key_text::hash(text).ok_or(AppError::InvalidToken)?;
        let find = self.find_key(&hash);
        let found = self.look_up(&self.credentials.keys, &hash, find, client).await?;
        let (key, user) = found.ok_or_else(|| self.bad_credential(client))?;
        let over = key.expires_at.is_some_and(|end| end <= self.parts.clock.now());
        if over || key.revoked_at.is_some() || user.disabled_at.is_some() {
            return Err(AppError::InvalidToken);
        }
        let identity = self.identity(user, key.scopes, Credential::Key(key.id));
        Ok(Identity { only_workspace: key.workspace, ..identity })
    }

    /// What a credential stands for: from memory while that is fresh, else from the store. A client
    /// that showed too many bad credentials waits its turn there, unless this one was good lately.
    pub(crate) async fn look_up<K: Hash + Eq + Clone, V: Clone>(
        &self,
        cache: &GenerationCache<K, V>,
        key: &K,
        find: impl Future<Output = Result<Option<V>, store::Error>>,
        client: IpAddr,
    ) -> Result<Option<V>, AppError> {
        let known = cache.get(key);
        let was_good = known.is_some();
        if let Some(known) = known.filter(|known| known.age() < FRESH) {
            return Ok(Some(known.value));
        }
        let generation = cache.generation();
        let is_late = self.parts.limits.is_out_of_credentials(client, self.parts.clock.steady());
        let found = if was_good || !is_late {
            find.await?
        } else {
            self.credentials.throttle.run(find).await?
        };
        if let Some(found) = &found {
            cache.insert(generation, key.clone(), found.clone());
        }
        Ok(found)
    }

    /// Count a bad credential of `client`, and the error for it.
    pub(crate) fn bad_credential(&self, client: IpAddr) -> AppError {
        match self.parts.limits.bad_credential(client, self.parts.clock.steady()) {
            Ok(()) => AppError::InvalidToken,
            Err(limited) => limited.into(),
        }
    }

    /// A key and its owner. That it is used is written down, if it is good and that has not been
    /// written lately.
    async fn find_key(&self, hash: &[u8; 32]) -> Result<Option<(ApiKey, User)>, store::Error> {
        let mut found = self.parts.store.find_key(hash).await?;
        let now = self.parts.clock.now();
        if let Some((key, _)) = &mut found {
            let lately = key.last_used_at.is_some_and(|at| at.plus(TOUCH_EVERY) > now);
            let over = key.expires_at.is_some_and(|end| end <= now);
            if !lately && !over && key.revoked_at.is_none() {
                self.parts.store.touch_key(key.id, now).await?;
                key.last_used_at = Some(now);
            }
        }
        Ok(found)
    }

    pub(crate) fn identity(&self, user: User, scopes: Scopes, credential: Credential) -> Identity {
        Identity {
            id: user.id,
            // An open server lets everybody do everything, those with an account too.
            is_admin: user.admin_at.is_some() || self.parts.policy.open,
            email: user.email,
            scopes,
            only_workspace: None,
            credential,
        }
    }
}
