//! Browser sessions: a login by a secret that only the browser's cookie holds. What was read from the store
//! is believed for a second, as with tokens and keys.

use std::net::IpAddr;
use std::time::Duration;

use crate::app::{App, AppError, Person, Registration, Resource};
use crate::store::{self, BrowserSession, User};
use kurz_core::account::{Caller, Credential, Scopes, access, claim};
use kurz_core::time::Timestamp;

/// How long a session is good.
pub const SESSION_LIFE: Duration = Duration::from_hours(30 * 24);
/// That a session is used is written down at most this often.
const TOUCH_EVERY: Duration = Duration::from_mins(5);
const MOST: i64 = 100;
/// Longest name of a browser that is kept, in characters.
const AGENT_CHARS: usize = 200;

/// A user who is logged in with a browser.
#[derive(Clone, Debug)]
pub struct Browser {
    pub caller: Caller,
    /// The same, as others may see them.
    pub person: Person,
    pub hash: [u8; 32],
}

impl App {
    /// Log in from `client` with a browser whose `User-Agent` is `agent`; the secret for its cookie,
    /// which is new with every login.
    pub async fn log_in_browser(
        &self,
        email: &str,
        password: &str,
        agent: &str,
        client: IpAddr,
    ) -> Result<String, AppError> {
        let session = self.log_in(email, password, client).await?;
        self.open_session(&session.person, agent).await
    }

    /// Register, and log in with a browser.
    pub async fn register_browser(
        &self,
        registration: &Registration,
        agent: &str,
        client: IpAddr,
    ) -> Result<String, AppError> {
        let session = self.register(registration, client).await?;
        self.open_session(&session.person, agent).await
    }

    /// Open a session for a user who has just logged in.
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

    /// The session of `secret`, shown from `client`; `None` when it is invalid or expired.
    pub async fn identify_browser(
        &self,
        secret: &str,
        client: IpAddr,
    ) -> Result<Option<Browser>, AppError> {
        let Some(hash) = claim::hash(secret) else { return Ok(None) };
        let now = self.parts.clock.now();
        let find = self.find_session(&hash);
        let found = self.look_up(&self.credentials.sessions, &hash, find, client).await?;
        let Some((session, user)) = found else {
            // It counts as a bad credential, but an anonymous visitor is welcome here.
            let _ = self.bad_credential(client);
            return Ok(None);
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

    /// A session and its account. That it is used is written down, unless that was done lately.
    async fn find_session(
        &self,
        hash: &[u8; 32],
    ) -> Result<Option<(BrowserSession, User)>, store::Error> {
        let now = self.parts.clock.now();
        let mut found = self.parts.store.find_session(hash, now).await?;
        if let Some((session, _)) = &mut found
            && session.seen_at.plus(TOUCH_EVERY) <= now
        {
            self.parts.store.touch_session(hash, now).await?;
            session.seen_at = now;
        }
        Ok(found)
    }

    pub async fn list_sessions(&self, caller: &Caller) -> Result<Vec<BrowserSession>, AppError> {
        let id = access::signed_in(caller)?.id;
        let now: Timestamp = self.parts.clock.now();
        Ok(self.parts.store.list_sessions(id, now, MOST).await?)
    }

    /// End one of the caller's sessions.
    pub async fn end_session(&self, caller: &Caller, hash: &[u8; 32]) -> Result<(), AppError> {
        let id = access::signed_in(caller)?.id;
        let ended = self.parts.store.end_session(id, hash).await?;
        self.credentials.sessions.invalidate(hash);
        if ended { Ok(()) } else { Err(AppError::NotFound(Resource::Session)) }
    }
}
