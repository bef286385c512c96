//! What kurz does, whoever asks: the API, the pages, the command line. Knows no HTTP and no SQL.

mod accounts;
mod address;
mod alarm;
mod audit;
mod change;
mod changes;
mod claim;
mod cleanup;
mod create;
mod disable;
mod draft;
mod edit;
mod error;
mod health;
mod hear;
mod hosts;
mod identity;
mod keys;
mod limits;
mod list;
mod members;
mod numbers;
mod operation;
mod passwords;
mod pictures;
pub mod people;
mod repeat;
mod reports;
mod seats;
mod sessions;
mod show;
mod stats;
mod target;
mod traffic;
mod workspaces;

pub use accounts::{Person, Registration, Session};
pub use audit::{AuditEntry, AuditFilter, AuditPage};
pub use change::Change;
pub use changes::{Actor, ChangeDetail, LinkChange};
pub use claim::{ClaimRequest, MOST_CLAIMS};
pub use cleanup::{Cleaned, CleanupEnd, CleanupTimes};
pub use create::{Created, LinkRequest, Metered};
pub use edit::LinkPatch;
pub use error::{AppError, FieldError, Missing};
pub use health::Probe;
pub use keys::KeyRequest;
pub use list::{Find, LinkFilter, LinkPage};
pub use members::MemberPage;
pub use operation::{JobRun, Operation, UserPage};
pub use passwords::{COST, Passwords, QUEUE};
pub use pictures::{Format, Picture};
pub use reports::{MOST_WORDS, ReportQueue, ReportRequest, ReportedLink};
pub use sessions::{Browser, SESSION_LIFE};
pub use show::ShownLink;
pub use stats::Stats;
pub use traffic::{Bucket, LinkTraffic, Span};
pub use workspaces::{MAIN, Rights, ShownWorkspace, WorkspacePage, WorkspacePatch};

use std::sync::Arc;
use std::time::Duration;

use crate::cache::{ActiveBlocklist, Hosts, LinkCache, ReuseCache};
use crate::clicks::ClickWriter;
pub use crate::clicks::FLUSH_EVERY;
use crate::clock::Clock;
use crate::config::PublicUrl;
pub use crate::config::Signup;
use crate::entropy::Entropy;
use crate::peers::Peers;
use crate::quota::SharedQuota;
pub use crate::store::{ApiKey, BrowserSession, Host, Instance, Member, Report, User, Workspace};
use kurz_core::account::token::Tokens;
use kurz_core::code::Reserved;
use kurz_core::code::counter::Scrambler;
use kurz_core::limits::Limits;
use kurz_core::link::OwnAddresses;
use kurz_core::time::Timestamp;

use crate::store::Store;

use numbers::Numbers;

/// What an operator may choose about links.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where kurz is reached from outside.
    pub public_url: PublicUrl,
    /// The addresses that are its own: no link leads to one of its links.
    pub own: OwnAddresses,
    /// Hits a month for a link whose workspace says nothing; 0: any number.
    pub hit_limit: u64,
    /// How long a counter link lives; `None`: for good.
    pub counter_ttl: Option<Duration>,
    /// Whether targets in private networks are welcome.
    pub private_targets: bool,
    /// Whether a link leads for good where it was made to lead.
    pub fixed_targets: bool,
    /// How long a host that was given up is kept from other workspaces.
    pub host_quarantine: Duration,
    /// How long the log of changes is kept.
    pub audit_keep: Duration,
    /// Whether everybody may do everything, without an account.
    pub open: bool,
    /// Who may register.
    pub signup: Signup,
    /// How long a link made without an account lives.
    pub anon_ttl: Duration,
    /// Links that a user may make in a month where they are counted; 0: any number.
    pub user_link_limit: i64,
}

/// The parts that the program is made of.
#[derive(Debug)]
pub struct Parts {
    /// Where everything is kept.
    pub store: Arc<Store>,
    /// Links in memory.
    pub links: Arc<LinkCache>,
    /// Links in memory by what was asked for.
    pub reuse: Arc<ReuseCache>,
    /// Hosts in memory.
    pub hosts: Arc<Hosts>,
    /// The block list.
    pub blocked: Arc<ActiveBlocklist>,
    /// The other instances.
    pub peers: Arc<Peers>,
    /// The quota that instances share, if they do.
    pub quota: Option<Arc<SharedQuota>>,
    /// Writes clicks to the store.
    pub clicks: Arc<ClickWriter>,
    /// Words that are pages, not codes.
    pub reserved: Arc<Reserved>,
    /// Turns a counter into a code.
    pub scrambler: Scrambler,
    /// What time it is.
    pub clock: Clock,
    /// Random bytes.
    pub entropy: Entropy,
    /// Signs and checks tokens.
    pub tokens: Tokens,
    /// Hashes passwords.
    pub passwords: Arc<Passwords>,
    /// How often somebody may do something.
    pub limits: Arc<Limits>,
    /// The operator's choices.
    pub policy: Policy,
}

/// The program behind every interface.
#[derive(Debug)]
pub struct App {
    parts: Parts,
    people: people::People,
    known: identity::Known,
    seats: seats::Seats,
    sessions: sessions::KnownSessions,
    link_ids: Numbers,
    code_counter: Numbers,
    change_ids: Numbers,
    stats: stats::Cached,
    looked_through: health::LookedThrough,
    alarm: alarm::Alarm,
    /// Since when it serves.
    started_at: Timestamp,
}

impl App {
    /// Put the parts together, and see to it that the workspace `main` exists.
    pub async fn new(parts: Parts) -> Result<Self, AppError> {
        let people = people::People {
            store: Arc::clone(&parts.store),
            clock: parts.clock.clone(),
            entropy: parts.entropy.clone(),
            passwords: Arc::clone(&parts.passwords),
        };
        let started_at = parts.clock.now();
        let app = Self {
            parts,
            people,
            known: identity::Known::default(),
            seats: seats::Seats::default(),
            sessions: sessions::KnownSessions::default(),
            started_at,
            looked_through: health::LookedThrough::default(),
            alarm: alarm::Alarm::default(),
            link_ids: Numbers::new("link", 10_000),
            code_counter: Numbers::new("code", 1_000),
            change_ids: Numbers::new("change", 100),
            stats: stats::Cached::default(),
        };
        app.ensure_workspace(&workspaces::main_id()).await?;
        Ok(app)
    }

    /// The operator's choices.
    pub const fn policy(&self) -> &Policy {
        &self.parts.policy
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// Whether the store answers; if not, it is logged here.
    pub async fn check_store(&self) -> Result<(), AppError> {
        let answer = self.parts.store.ping().await;
        answer.inspect_err(|error| tracing::warn!(%error, "the store does not answer"))?;
        Ok(())
    }

    /// Whether Redis answers; `None` when there is none to answer.
    pub fn redis_answers(&self) -> Option<bool> {
        self.parts.peers.redis_answers()
    }

    /// Keep connections to the store open though nobody needs them at the moment.
    pub async fn tend_store(&self) {
        self.parts.store.tend().await;
    }

    /// Links in memory and about how many bytes they take.
    pub fn cache_size(&self) -> (usize, u64) {
        self.parts.links.size()
    }

    /// How many links have redirects that are not written yet.
    pub async fn unwritten(&self) -> usize {
        self.parts.clicks.waiting().await
    }

    /// Make safe the redirects that gathered in memory, and add those that are due to the tables.
    pub async fn flush(&self) -> Result<(), AppError> {
        let now = self.parts.clock.now();
        Ok(self.parts.clicks.flush(&self.parts.store, &*self.parts.links, now, false).await?)
    }

    /// Add all redirects to the tables.
    pub async fn flush_all(&self) -> Result<(), AppError> {
        let now = self.parts.clock.now();
        Ok(self.parts.clicks.flush(&self.parts.store, &*self.parts.links, now, true).await?)
    }

    /// Once nobody redirects any more: add all redirects to the tables, and give back what is held in
    /// reserve.
    pub async fn wind_up(&self) -> Result<(), AppError> {
        let flushed = self.flush_all().await;
        if let Some(quota) = self.parts.quota.as_ref() {
            quota.give_back().await;
        }
        self.parts.store.tidy().await;
        flushed
    }

    /// Add redirects to the tables that processes which are no more left in the log. Where others
    /// may be at work, those that have been silent for `idle` are taken for such; where nobody
    /// can be, that is for the start alone, to leave nothing.
    pub async fn settle_left(&self, idle: Duration, at_start: bool) -> Result<(), AppError> {
        let idle = match (self.parts.store.is_alone(), at_start) {
            (true, false) => return Ok(()),
            (true, true) => Duration::ZERO,
            (false, _) => idle,
        };
        let rows = self.parts.store.settle_left(idle, self.parts.clock.now()).await?;
        if rows > 0 {
            tracing::info!(rows, "added redirects that an earlier process had left in the log");
        }
        Ok(())
    }
}
