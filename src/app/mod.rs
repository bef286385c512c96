//! What kurz does, independent of the interface: the API, the pages and the command line call it. It knows
//! no HTTP and no SQL.

pub mod accounts;
mod admin;
mod analytics;
mod audit;
mod cleanup;
mod error;
mod target_health;
mod id_allocator;
mod invalidation;
mod limits;
mod links;
mod page;
mod workspaces;

pub use accounts::keys::KeyRequest;
pub use accounts::login::{PasswordChange, Person, Registration, Session};
pub use accounts::passwords::{COST, Passwords, QUEUE};
pub use accounts::sessions::{Browser, SESSION_LIFE};
pub use admin::audit::AuditFilter;
pub use admin::reports::{ReportQueue, ReportedLink};
pub use admin::status::{JobRun, ServerStatus};
pub use analytics::clickhouse_copy::{CopyCheck, CopyError};
pub use analytics::event_list::{EventPosition, EventReader, ShownEvent};
pub use analytics::event_retention::AnalyticsPolicy;
pub use analytics::live::{LiveClicks, LiveSums};
pub use analytics::privacy_notice::PrivacyNotice;
pub use analytics::question::{QUESTION_PARAMETERS, QuestionContext, read_question};
pub use analytics::series::{Bucket, Granularity, LinkAnalytics};
pub use analytics::shares::{FreshShare, OpenShare, ShareKey, ShareRequest, ShareScope, share_id};
pub use analytics::totals::Totals;
pub use audit::{Action, Actor, AuditDetail, AuditEntry, KINDS as AUDIT_KINDS};
pub use cleanup::{Cleaned, CleanupEnd, CleanupTimes};
pub use error::{AppError, FieldError, Resource};
pub use kurz_core::link::Change;
pub use links::claim::{ClaimRequest, MOST_CLAIMS};
pub use links::create::{Created, LinkRequest, Metered};
pub use links::edit::LinkPatch;
pub use links::list::LinkFilter;
pub use links::qr::{QrFormat, QrImage};
pub use links::report::{MOST_WORDS, ReportRequest};
pub use links::search_limit::{SearchLimit, SearchLimitSettings};
pub use links::show::{Destinations, ShownLink};
pub use links::simulate::{SimulatedVisit, Simulation};
pub use links::split_results::{SplitResults, VariantResult};
pub use page::Page;
pub use target_health::{Probe, ProbeResult};
pub use workspaces::invitations::{FreshInvitation, InvitationKey, ReceivedInvitation};
pub use workspaces::{
    HostInstructions, HostPatch, MAIN, Rights, ShownHost, ShownWorkspace, WorkspacePatch,
};

use std::sync::Arc;
use std::time::Duration;

use crate::cache::{ActiveBlocklist, CacheLookups, Hosts, LinkCache, ReuseCache};
use crate::clickhouse::ClickHouse;
pub(crate) use crate::clicks::FLUSH_EVERY;
use crate::clicks::classify::channel::ChannelTable;
use crate::clicks::classify::geo_file::GeoFile;
use crate::clicks::classify::shared_agent_parser::SharedAgentParser;
use crate::clicks::link_info::LinkInfoCache;
use crate::clicks::{ClickWriter, WrittenClicks};
use crate::clock::Clock;
use crate::config::PublicUrl;
pub use crate::config::Signup;
use crate::egress::HostProver;
use crate::entropy::Entropy;
use crate::peers::Peers;
use crate::quota::SharedQuota;
pub use crate::store::{
    AnalyticsShare, ApiKey, BrowserSession, EventSizes, Instance, Invitation, Member, Report,
    TagCount, User, Workspace, WorkspacePrivacy,
};
use kurz_core::account::token::Tokens;
use kurz_core::code::Reserved;
use kurz_core::code::counter::Scrambler;
use kurz_core::limits::Limits;
use kurz_core::link::OwnAddresses;
use kurz_core::time::Timestamp;

use crate::store::Store;

use id_allocator::IdAllocator;

/// What an operator may choose about links.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
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
    /// Workspaces that an account may make; `None`: any number.
    pub workspace_limit: Option<i64>,
    /// Custom codes that an account may choose in `main` in a month; `None`: any number.
    pub custom_code_limit: Option<i64>,
    /// Whether the front page shows the totals.
    pub front_totals: bool,
    /// Whether targets are checked, so that a fallback is ever used.
    pub health_checks: bool,
    /// The parameter by which visitors ask not to be tracked.
    pub no_track_param: Option<String>,
    /// How long a deleted link can be restored for certain.
    pub purge_grace: Duration,
    /// What is kept about clicks.
    pub analytics: AnalyticsPolicy,
    /// What visitors can read about it.
    pub privacy: PrivacyNotice,
}

/// The parts that the program is made of.
#[derive(Debug)]
pub struct Parts {
    pub store: Arc<Store>,
    pub links: Arc<LinkCache>,
    /// Links in memory by what was asked for.
    pub reuse: Arc<ReuseCache>,
    pub hosts: Arc<Hosts>,
    pub blocked: Arc<ActiveBlocklist>,
    pub peers: Arc<Peers>,
    /// The quota that instances share, if they do.
    pub quota: Option<Arc<SharedQuota>>,
    pub clicks: Arc<ClickWriter>,
    /// Where events are copied to, if they are.
    pub clickhouse: Option<Arc<ClickHouse>>,
    /// The operator's file of places, if there is one.
    pub geo_file: Option<Arc<GeoFile>>,
    /// The secret seed of hashes of user agents, the same on all instances.
    pub visitor_seed: u64,
    /// Reads user agents.
    pub agent_parser: Arc<SharedAgentParser>,
    /// The channels of referring hosts.
    pub channels: Arc<ChannelTable>,
    /// Words that are pages, not codes.
    pub reserved: Arc<Reserved>,
    /// Turns a counter into a code.
    pub scrambler: Scrambler,
    /// Characters of a random code.
    pub code_length: u8,
    pub(crate) host_prover: HostProver,
    pub clock: Clock,
    /// Random bytes.
    pub entropy: Entropy,
    pub tokens: Tokens,
    pub passwords: Arc<Passwords>,
    /// How often somebody may do something.
    pub limits: Arc<Limits>,
    /// How many searches run at the same time.
    pub searches: SearchLimit,
    pub policy: Policy,
}

#[derive(Debug)]
pub struct App {
    parts: Parts,
    accounts: accounts::Accounts,
    credentials: accounts::credential_cache::CredentialCache,
    memberships: workspaces::membership_cache::MembershipCache,
    link_ids: IdAllocator,
    code_counter: IdAllocator,
    audit_ids: IdAllocator,
    totals: analytics::totals::TotalsCache,
    visitor_keys: tokio::sync::Mutex<analytics::visitor_keys::VisitorKeyring>,
    /// What is known of links whose events become blocks.
    event_links: tokio::sync::Mutex<LinkInfoCache>,
    analytics: analytics::engine::AnalyticsEngine,
    /// Blocks that wait to be copied to ClickHouse.
    copies: analytics::copy_queue::CopyQueue,
    clickhouse_pause: analytics::clickhouse_answer::QuestionPause,
    health_scan: target_health::ScanPosition,
    retarget_alarm: links::retarget_alarm::RetargetAlarm,
    started_at: Timestamp,
}

impl App {
    /// Put the parts together, and see to it that the workspace `main` exists.
    pub async fn new(parts: Parts) -> Result<Self, AppError> {
        let accounts = accounts::Accounts {
            store: Arc::clone(&parts.store),
            clock: parts.clock.clone(),
            entropy: parts.entropy.clone(),
            passwords: Arc::clone(&parts.passwords),
        };
        let started_at = parts.clock.now();
        let event_links = LinkInfoCache::new(parts.policy.analytics.mode_with(None));
        let app = Self {
            parts,
            accounts,
            credentials: accounts::credential_cache::CredentialCache::default(),
            memberships: workspaces::membership_cache::MembershipCache::default(),
            started_at,
            health_scan: target_health::ScanPosition::default(),
            retarget_alarm: links::retarget_alarm::RetargetAlarm::default(),
            link_ids: IdAllocator::new("link", 10_000),
            code_counter: IdAllocator::new("code", 1_000),
            audit_ids: IdAllocator::new("change", 100),
            totals: analytics::totals::TotalsCache::default(),
            visitor_keys: tokio::sync::Mutex::default(),
            event_links: tokio::sync::Mutex::new(event_links),
            analytics: analytics::engine::AnalyticsEngine::default(),
            copies: analytics::copy_queue::CopyQueue::default(),
            clickhouse_pause: analytics::clickhouse_answer::QuestionPause::default(),
        };
        app.ensure_workspace(&workspaces::main_id()).await?;
        Ok(app)
    }

    pub const fn policy(&self) -> &Policy {
        &self.parts.policy
    }

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

    /// Whether monthly limits are shared with other instances.
    pub fn shares_quota(&self) -> bool {
        self.parts.quota.is_some()
    }

    /// Keep connections to the store open while they are idle.
    pub async fn keep_store_connections(&self) {
        self.parts.store.keep_connections_open().await;
    }

    /// Whether the file of the store is still where it was opened.
    pub async fn check_store_file(&self) -> Result<(), AppError> {
        Ok(self.parts.store.check_file().await?)
    }

    /// Links in memory and about how many bytes they take.
    pub fn cache_size(&self) -> (usize, u64) {
        self.parts.links.size()
    }

    /// The metrics of redirects and of the cache in front of the store, as Prometheus text.
    pub fn redirect_metrics(&self) -> String {
        let CacheLookups { near, shared, missed } = self.parts.links.lookups();
        let mut text = format!(
            "# TYPE kurz_cache_hits_total counter\n\
             kurz_cache_hits_total{{cache=\"near\"}} {near}\n\
             kurz_cache_hits_total{{cache=\"shared\"}} {shared}\n\
             \n# TYPE kurz_cache_misses_total counter\n\
             kurz_cache_misses_total {missed}\n\n"
        );
        self.parts.clicks.metrics().write(&mut text);
        text
    }

    /// How many links have clicks that are not written yet.
    pub async fn unwritten(&self) -> usize {
        self.parts.clicks.waiting().await
    }

    /// Write the clicks in memory to the log, and those that are due to the tables.
    pub async fn flush(&self) -> Result<(), AppError> {
        let now = self.parts.clock.now();
        self.parts.clicks.flush(&self.parts.store, &*self.parts.links, now, false).await?;
        if let Some(quota) = self.parts.quota.as_ref() {
            quota.forget(|link| self.parts.links.is_written(link)).await?;
        }
        Ok(())
    }

    /// Write all clicks to the tables.
    pub async fn flush_all(&self) -> Result<(), AppError> {
        let now = self.parts.clock.now();
        Ok(self.parts.clicks.flush(&self.parts.store, &*self.parts.links, now, true).await?)
    }

    /// After the last redirect: write all clicks, and return the reserved hits of limited links.
    pub async fn shut_down(&self) -> Result<(), AppError> {
        let flushed = self.flush_all().await;
        if let Err(error) = self.write_orphans().await {
            tracing::warn!(%error, "misses on hosts of workspaces could not be written");
        }
        if let Some(quota) = self.parts.quota.as_ref() {
            quota.give_back().await;
        }
        self.parts.store.checkpoint().await;
        flushed
    }

    /// Add the clicks of ended processes, which are still in the log, to the tables. On a shared store a
    /// process counts as ended when it has written nothing for `idle`; on a store of this process
    /// alone, there can be such clicks at the start only.
    pub async fn apply_abandoned_clicks(
        &self,
        idle: Duration,
        at_start: bool,
    ) -> Result<(), AppError> {
        let idle = match (self.parts.store.is_single_process(), at_start) {
            (true, false) => return Ok(()),
            (true, true) => Duration::ZERO,
            (false, _) => idle,
        };
        let rows = self.parts.store.settle_left(idle, self.parts.clock.now()).await?;
        if rows > 0 {
            tracing::info!(rows, "added clicks that an ended process had left in the log");
        }
        Ok(())
    }
}
