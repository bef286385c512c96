//! Sessions of browsers: signing in with a secret that only the browser's cookie holds. What was
//! found in the store is good for a second, as with tokens and keys.

use std::net::IpAddr;
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::time::Instant;

use crate::app::{App, AppError, Missing, Person, Registration};
use crate::store::{BrowserSession, User};
use kurz_core::account::{Caller, Credential, Scopes, access, claim};
use kurz_core::time::Timestamp;

/// How long a session is good.
pub const SESSION_LIFE: Duration = Duration::from_hours(30 * 24);
/// How long something found in the store is believed.
const FRESH: Duration = Duration::from_secs(1);
/// That a session is used is written down at most this often.
const TOUCH_EVERY: Duration = Duration::from_mins(5);
/// Sessions in memory, and sessions shown of one user.
const MOST: i64 = 100;
const IN_MEMORY: usize = 10_000;
/// Longest name of a browser that is kept, in characters.
const AGENT_CHARS: usize = 200;

/// Sessions that were asked for a moment ago.
#[derive(Debug)]
pub(super) struct KnownSessions(Cache<[u8; 32], (Instant, BrowserSession, User)>);

impl Default for KnownSessions {
    fn default() -> Self {
        Self(Cache::new(IN_MEMORY))
    }
}

/// Somebody who signed in with a browser.
#[derive(Clone, Debug)]
pub struct Browser {
    /// Who asks.
    pub caller: Caller,
    /// The same, as others may see them.
    pub person: Person,
    /// Which session it is.
    pub hash: [u8; 32],
}

impl App {
    /// Sign in from `client` with a browser that calls itself `agent`; the secret for its cookie,
    /// which is new with every sign-in.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &str,
        agent: &str,
        client: IpAddr,
    ) -> Result<String, AppError> {
        let session = self.log_in(email, password, client).await?;
        self.open_session(&session.person, agent).await
    }

    /// Make an account, and sign in with a browser.
    pub async fn sign_up(
        &self,
        registration: &Registration,
        agent: &str,
        client: IpAddr,
    ) -> Result<String, AppError> {
        let session = self.register(registration, client).await?;
        self.open_session(&session.person, agent).await
    }

    /// A session for somebody who has just shown who they are.
    pub async fn open_session(&self, person: &Person, agent: &str) -> Result<String, AppError> {
        let user = self.parts.store.find_user(&person.email).await?;
        let user = user.ok_or(AppError::InvalidToken)?;
        let secret = claim::fresh(&mut |bytes| self.parts.entropy.fill(bytes));
        let hash = claim::hash(&secret).ok_or(AppError::InvalidToken)?;
        let now = self.parts.clock.now();
        let agent = agent.chars().filter(|c| !c.is_control()).take(AGENT_CHARS).collect();
        let expires_at = now.plus(SESSION_LIFE);
        let new = BrowserSession { hash, agent, created_at: now, seen_at: now, expires_at };
        self.parts.store.insert_session(&user, &new).await?;
        Ok(secret)
    }

    /// Whose browser holds `secret` and asks from `client`; `None` when it is no good, or no longer.
    pub async fn identify_browser(
        &self,
        secret: &str,
        client: IpAddr,
    ) -> Result<Option<Browser>, AppError> {
        let Some(hash) = claim::hash(secret) else { return Ok(None) };
        let now = self.parts.clock.now();
        let known = self.sessions.0.get(&hash);
        let was_good = known.is_some();
        let known = known.filter(|(since, ..)| since.elapsed() < FRESH);
        let (session, user) = if let Some((_, session, user)) = known {
            (session, user)
        } else {
            let find = self.parts.store.find_session(&hash, now);
            let Some((mut session, user)) = self.look_up(find, was_good, client).await? else {
                // It counts, yet who asks is nobody in particular, as everybody may be here.
                let _ = self.bad_credential(client);
                return Ok(None);
            };
            if session.seen_at.plus(TOUCH_EVERY) <= now {
                self.parts.store.touch_session(&hash, now).await?;
                session.seen_at = now;
            }
            self.sessions.0.insert(hash, (Instant::now(), session.clone(), user.clone()));
            (session, user)
        };
        if session.expires_at <= now || user.disabled_at.is_some() {
            return Ok(None);
        }
        let person = Person::from(user.clone());
        let identity = self.identity(user, Scopes::ALL, Credential::Token);
        self.admit_call(&identity)?;
        let caller = Caller::user(identity).at(client);
        Ok(Some(Browser { caller, person, hash }))
    }

    /// The caller's sessions, newest first.
    pub async fn list_sessions(&self, caller: &Caller) -> Result<Vec<BrowserSession>, AppError> {
        let id = access::signed_in(caller)?.id;
        let now: Timestamp = self.parts.clock.now();
        Ok(self.parts.store.list_sessions(id, now, MOST).await?)
    }

    /// End one of the caller's sessions.
    pub async fn end_session(&self, caller: &Caller, hash: &[u8; 32]) -> Result<(), AppError> {
        let id = access::signed_in(caller)?.id;
        let ended = self.parts.store.end_session(id, hash).await?;
        self.sessions.0.remove(hash);
        if ended { Ok(()) } else { Err(AppError::NotFound(Missing::Session)) }
    }

    /// Drop what is known of somebody's sessions: their account changed.
    pub(super) fn forget_sessions(&self) {
        self.sessions.0.clear();
    }
}
