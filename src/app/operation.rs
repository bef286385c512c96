//! What an administrator of the server sees: the people, the jobs, and how this instance is.

use crate::app::{Actor, App, AppError, Missing, Stats};
use crate::clock::Stopwatch;
use crate::store::{Instance, User};
use kurz_core::account::{Caller, Email, Scope, access};
use kurz_core::time::Timestamp;

/// Users in a page.
const PAGE: i64 = 50;
/// Jobs and instances that are shown.
const JOBS: i64 = 50;
const INSTANCES: i64 = 200;
/// An instance that was not heard of for so long is forgotten.
const FORGOTTEN_MS: i64 = 24 * 3_600_000;

/// A page of users, by address.
#[derive(Clone, Debug)]
pub struct UserPage {
    /// The users.
    pub users: Vec<User>,
    /// The address after which the next page begins, if there is one.
    pub next: Option<String>,
}

/// Work that one instance does at a time, and when it was last begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRun {
    /// Its name.
    pub name: String,
    /// When it last began.
    pub began_at: Timestamp,
    /// Until when no other begins.
    pub until: Timestamp,
    /// Which instance did it.
    pub instance: String,
}

/// How the server is.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The platform's totals.
    pub totals: Stats,
    /// The jobs.
    pub jobs: Vec<JobRun>,
    /// The processes that serve the store.
    pub instances: Vec<Instance>,
    /// What this one is called.
    pub instance: String,
    /// Which database.
    pub store: &'static str,
    /// How long the database took to answer, in milliseconds.
    pub store_ms: f64,
    /// Whether Redis answers; `None` where none is used.
    pub redis_answers: Option<bool>,
    /// Links in memory.
    pub cached_links: usize,
    /// About how many bytes they take.
    pub cached_bytes: u64,
    /// Links whose redirects are not written yet.
    pub unwritten: usize,
    /// What time it is here.
    pub now: Timestamp,
}

impl App {
    /// Whether `caller` administers the server. To others it is not there.
    pub(super) fn administers(caller: &Caller) -> Result<(), AppError> {
        if caller.is_open() {
            return Ok(());
        }
        let identity = access::to_whole_account(caller, Scope::Manage)?;
        if identity.is_admin { Ok(()) } else { Err(AppError::NotFound(Missing::Page)) }
    }

    /// How the server is.
    pub async fn operation(&self, caller: &Caller) -> Result<Operation, AppError> {
        Self::administers(caller)?;
        let watch = Stopwatch::start();
        self.check_store().await?;
        let store_ms = watch.elapsed().as_secs_f64() * 1000.0;
        let (cached_links, cached_bytes) = self.cache_size();
        let jobs = self.parts.store.list_locks(JOBS).await?;
        let jobs = jobs.into_iter().map(|(name, began_at, until, instance)| JobRun {
            name,
            began_at,
            until,
            instance,
        });
        Ok(Operation {
            totals: self.stats().await?,
            jobs: jobs.collect(),
            instances: self.parts.store.list_instances(INSTANCES).await?,
            instance: self.parts.peers.instance().to_owned(),
            store: self.parts.store.kind(),
            store_ms,
            redis_answers: self.parts.peers.redis_answers(),
            cached_links,
            cached_bytes,
            unwritten: self.unwritten().await,
            now: self.parts.clock.now(),
        })
    }

    /// Write down that this instance is there.
    pub async fn note_presence(&self) -> Result<(), AppError> {
        let now = self.parts.clock.now();
        let this = Instance {
            name: self.parts.peers.instance().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at,
            seen_at: now,
        };
        let forget = Timestamp::from_ms(now.as_ms() - FORGOTTEN_MS);
        Ok(self.parts.store.note_instance(&this, forget).await?)
    }

    /// This instance ends.
    pub async fn end_presence(&self) -> Result<(), AppError> {
        Ok(self.parts.store.drop_instance(self.parts.peers.instance()).await?)
    }

    /// A page of users whose address comes after `after`.
    pub async fn list_users(&self, caller: &Caller, after: &str) -> Result<UserPage, AppError> {
        Self::administers(caller)?;
        let after = if after.contains('\0') { "" } else { after };
        let mut users = self.parts.store.list_users(after, PAGE + 1).await?;
        let full = usize::try_from(PAGE).unwrap_or(usize::MAX);
        let more = users.len() > full;
        users.truncate(full);
        let next = users.last().filter(|_| more).map(|last| last.email.to_string());
        Ok(UserPage { users, next })
    }

    /// Let somebody sign in or not, and with `with_links` let their links redirect or not.
    /// Administrators stay: the command line can do that.
    pub async fn set_user_disabled(
        &self,
        caller: &Caller,
        email: &str,
        disabled: bool,
        with_links: bool,
    ) -> Result<(), AppError> {
        Self::administers(caller)?;
        let email = Email::parse(email).map_err(|_| AppError::NotFound(Missing::User))?;
        let user = self.people.find(&email).await?;
        if user.admin_at.is_some() {
            return Err(AppError::NotFound(Missing::User));
        }
        self.people.set_disabled(&email, disabled, &Actor::of(caller)).await?;
        self.known.forget(&email);
        self.forget_sessions();
        if with_links {
            self.set_links_disabled(caller, user.id, disabled).await?;
        }
        Ok(())
    }
}
