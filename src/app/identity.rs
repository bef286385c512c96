//! Who asks: from the credential of a request to a [`Caller`]. What was found in the store is good
//! for a second, so that a logout, a revocation or a disabled account is noticed that fast on every
//! instance, and at once on the one it was done on.
//!
//! Invariant: nobody is kept out by what others show, from the same address or another. Whether a
//! credential is good is only known after looking, so those who showed too many that are nobody's
//! (`limits`) are looked up as well: a few at a time, whoever they are.

use std::net::IpAddr;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::time::Instant;

use crate::app::{App, AppError};
use crate::store::{self, ApiKey, User};
use crate::throttle::Throttle;
use kurz_core::account::{Caller, Credential, Email, Identity, Scopes, key};
use kurz_core::time::Timestamp;

/// How long something found in the store is believed.
const FRESH: Duration = Duration::from_secs(1);
/// Most users and most keys in memory.
const MOST: usize = 10_000;
/// A key's last use is written down at most this often.
const TOUCH_EVERY: Duration = Duration::from_mins(1);

/// Users and keys that were asked for a moment ago.
#[derive(Debug)]
pub(super) struct Known {
    users: Cache<Email, (Instant, User)>,
    keys: Cache<[u8; 32], (Instant, ApiKey, User)>,
    /// The turns of those who are out of credentials.
    throttle: Throttle,
}

impl Default for Known {
    fn default() -> Self {
        Self { users: Cache::new(MOST), keys: Cache::new(MOST), throttle: Throttle::default() }
    }
}

impl Known {
    /// Drop what is known about a user: it changed.
    pub(super) fn forget(&self, email: &Email) {
        self.users.remove(email);
        self.keys.retain(|_, (_, _, user)| user.email != *email);
    }

    /// Drop what is known about a key.
    pub(super) fn forget_key(&self, hash: &[u8]) {
        self.keys.retain(|known, _| known != hash);
    }
}

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
            Some(text) if text.starts_with(key::START) => self.identify_key(text, client).await?,
            Some(text) => self.identify_token(text, client).await?,
        };
        self.admit_call(&identity)?;
        Ok(Caller::user(identity).at(client))
    }

    async fn identify_token(&self, token: &str, client: IpAddr) -> Result<Identity, AppError> {
        let now = self.parts.clock.now();
        let claims = self.parts.tokens.read(token, now).ok_or(AppError::InvalidToken)?;
        let known = self.known.users.get(&claims.email);
        let was_good = known.is_some();
        let known = known.filter(|(since, _)| since.elapsed() < FRESH);
        let user = if let Some((_, user)) = known {
            user
        } else {
            let find = self.parts.store.find_user(&claims.email);
            let user = self.look_up(find, was_good, client).await?;
            let user = user.ok_or_else(|| self.bad_credential(client))?;
            self.known.users.insert(claims.email, (Instant::now(), user.clone()));
            user
        };
        if user.token_version != claims.version || user.disabled_at.is_some() {
            return Err(AppError::InvalidToken);
        }
        Ok(self.identity(user, Scopes::ALL, Credential::Token))
    }

    async fn identify_key(&self, text: &str, client: IpAddr) -> Result<Identity, AppError> {
        let hash = key::hash(text).ok_or(AppError::InvalidToken)?;
        let known = self.known.keys.get(&hash);
        let was_good = known.is_some();
        let known = known.filter(|(since, _, _)| since.elapsed() < FRESH);
        let (key, user) = if let Some((_, key, user)) = known {
            (key, user)
        } else {
            let found = self.look_up(self.parts.store.find_key(&hash), was_good, client).await?;
            let (mut key, user) = found.ok_or_else(|| self.bad_credential(client))?;
            self.touch(&mut key).await?;
            self.known.keys.insert(hash, (Instant::now(), key.clone(), user.clone()));
            (key, user)
        };
        let over = key.expires_at.is_some_and(|end| end <= self.parts.clock.now());
        if over || key.revoked_at.is_some() || user.disabled_at.is_some() {
            return Err(AppError::InvalidToken);
        }
        let identity = self.identity(user, key.scopes, Credential::Key(key.id));
        Ok(Identity { only_workspace: key.workspace, ..identity })
    }

    /// What the store has for a credential. Who is out of them waits for their turn, unless this one
    /// was good lately.
    pub(super) async fn look_up<T>(
        &self,
        find: impl Future<Output = Result<Option<T>, store::Error>>,
        was_good: bool,
        client: IpAddr,
    ) -> Result<Option<T>, AppError> {
        let is_late = self.parts.limits.is_out_of_credentials(client, self.parts.clock.steady());
        if was_good || !is_late {
            return Ok(find.await?);
        }
        Ok(self.known.throttle.run(find).await?)
    }

    /// What somebody at `client` is told whose credential is nobody's.
    pub(super) fn bad_credential(&self, client: IpAddr) -> AppError {
        match self.parts.limits.bad_credential(client, self.parts.clock.steady()) {
            Ok(()) => AppError::InvalidToken,
            Err(limited) => limited.into(),
        }
    }

    /// Write down that a key is used, if it is good and that has not been written lately.
    async fn touch(&self, key: &mut ApiKey) -> Result<(), AppError> {
        let now: Timestamp = self.parts.clock.now();
        let lately = key.last_used_at.is_some_and(|at| at.plus(TOUCH_EVERY) > now);
        let over = key.expires_at.is_some_and(|end| end <= now);
        if !lately && !over && key.revoked_at.is_none() {
            self.parts.store.touch_key(key.id, now).await?;
            key.last_used_at = Some(now);
        }
        Ok(())
    }

    pub(super) fn identity(&self, user: User, scopes: Scopes, credential: Credential) -> Identity {
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
