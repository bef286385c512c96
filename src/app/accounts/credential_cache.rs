//! Accounts, keys and sessions that were used within the last second, by their credential.

use std::time::Duration;

use crate::cache::GenerationCache;
use crate::store::{ApiKey, BrowserSession, User};
use crate::throttle::Throttle;
use kurz_core::account::Email;

/// How long what was read from the store is believed.
pub(crate) const FRESH: Duration = Duration::from_secs(1);
/// Most users, keys and sessions in memory.
const MOST: usize = 10_000;

#[derive(Debug)]
pub(crate) struct CredentialCache {
    pub(crate) users: GenerationCache<Email, User>,
    /// By the hash of the key.
    pub(crate) keys: GenerationCache<[u8; 32], (ApiKey, User)>,
    /// By the hash of the cookie's secret.
    pub(crate) sessions: GenerationCache<[u8; 32], (BrowserSession, User)>,
    /// For clients that showed too many bad credentials.
    pub(crate) throttle: Throttle,
}

impl Default for CredentialCache {
    fn default() -> Self {
        Self {
            users: GenerationCache::new(MOST),
            keys: GenerationCache::new(MOST),
            sessions: GenerationCache::new(MOST),
            throttle: Throttle::default(),
        }
    }
}

impl CredentialCache {
    /// Drop every credential of an account: it changed.
    pub(crate) fn invalidate_user(&self, email: &Email) {
        self.users.invalidate(email);
        self.keys.invalidate_where(|_, (_, user)| user.email == *email);
        self.sessions.invalidate_where(|_, (_, user)| user.email == *email);
    }
}
