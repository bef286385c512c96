//! The whole program, put together and taken apart: store, memory, jobs, listeners.
//!
//! Order of the end: listeners first, so that nothing new comes; then the jobs; then the last
//! redirects are written. Only then is a stop complete.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::{App, AppError, COST, CleanupTimes, Parts, Passwords, Policy};
use crate::cache::{ActiveBlocklist, Hosts, LinkCache, LinkCacheSizes, ReuseCache};
use crate::clicks::ClickWriter;
use crate::client_address::TrustedProxies;
use crate::clock::Clock;
use crate::config::{Config, Net, PrivateTargets, RateLimits, Retention, Targets};
use crate::egress::Checker;
use crate::entropy::Entropy;
use crate::jobs;
use crate::net::tls::TlsReloader;
use crate::net::{Handle, HttpLimits, ListenError, Listeners, Server, TlsError};
use crate::peers::Peers;
use crate::quota::SharedQuota;
use crate::redirect::RedirectService;
use crate::redis::Redis;
use crate::server::blocklist::{self, BlocklistError};
use crate::server::dispatch::Dispatch;
use crate::server::{admin, routes};
use crate::store::{self, ServeLock, Store};
use kurz_core::account::token::Tokens;
use kurz_core::clicks::Visitors;
use kurz_core::code::counter::{LENGTH, Scrambler};
use kurz_core::limits;
use kurz_core::link::OwnAddresses;

/// Targets that are visited at the same time.
const CHECKS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not 0");

/// Messages of other instances that may wait to be acted on.
const HEARD: usize = 1024;

/// Why the program could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// TLS cannot be spoken with what the settings name.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The block list cannot be read.
    #[error(transparent)]
    Blocklist(#[from] BlocklistError),
    /// The operating system refused something.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
    /// The first use of the store failed.
    #[error(transparent)]
    App(#[from] AppError),
    /// Settings that do not fit together.
    #[error("{0}")]
    Setting(String),
}

/// A running program.
#[derive(Debug)]
pub struct RunningServer {
    app: Arc<App>,
    public: Handle,
    admin: Option<Handle>,
    stop: CancellationToken,
    tasks: TaskTracker,
    lock: ServeLock,
}

impl RunningServer {
    /// Start everything. Once this returns, it answers.
    pub async fn start(
        config: &Config,
        clock: Clock,
        entropy: Entropy,
    ) -> Result<Self, StartError> {
        let metrics = admin::metrics();
        check_cleanup(&config.retention)?;
        check_replica(config)?;
        let tls = TlsReloader::open(&config.net, clock.now())?;
        let blocklist =
            config.links.blocklist.as_deref().map(blocklist::BlocklistFile::open).transpose()?;
        let mut lock = ServeLock::take(&config.store.url)?;
        let store = Arc::new(Store::open(&config.store).await?);
        store::verify(&config.store.url, config.store.check_bytes)?;
        lock.serving()?;
        if store.has_unfinished_copy().await? {
            let text = "the store holds an unfinished copy: run the same `kurz copy` again first";
            return Err(StartError::Setting(text.to_owned()));
        }
        let trusted = config.net.trusted_proxies.clone().unwrap_or_default();
        let proxies = Arc::new(TrustedProxies::new(trusted));
        let public = Listeners::bind(config.net.listen, workers(&config.net), "KURZ_LISTEN")?
            .speaking(tls.as_ref())
            .behind(Arc::clone(&proxies));
        let admin = config
            .net
            .admin_listen
            .map(|address| Listeners::bind(address, NonZeroUsize::MIN, "KURZ_ADMIN_LISTEN"));
        let admin = admin.transpose()?;

        let parts = parts(config, store, public.address(), clock.clone(), entropy).await?;
        let redirects = redirects(&parts, proxies);
        let (peers, quota) = (Arc::clone(&parts.peers), parts.quota.clone());
        let app = Arc::new(App::new(parts).await?);
        // Before anybody is served: limits go by what is in the tables.
        app.settle_left(jobs::flush::SILENT, true).await?;

        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        if let Some((file, list)) = blocklist {
            app.block(list);
            tasks.spawn(file.follow(Arc::clone(&app), stop.clone()));
        }
        tasks.spawn(jobs::flush::run(Arc::clone(&app), stop.clone()));
        tasks.spawn(jobs::tend::run(Arc::clone(&app), stop.clone()));
        join(&app, &peers, quota.as_ref(), &tasks, &stop);
        spawn_cleanup(&config.retention, &app, &tasks, &stop);
        if config.retention.health_checks {
            let checker = Checker::of_the_internet(CHECKS_AT_ONCE);
            tasks.spawn(jobs::health::run(Arc::clone(&app), checker, stop.clone()));
        }
        if let Some(tls) = tls {
            tasks.spawn(tls.follow(TlsReloader::hangup()?, clock, stop.clone()));
        }
        tasks.spawn(jobs::presence::run(Arc::clone(&app), stop.clone()));
        tasks.spawn(admin::upkeep(metrics.clone(), stop.clone()));
        tasks.close();

        peers.wait_subscribed().await;
        app.load_hosts().await?;
        let limits = connection_limits(&config.net);
        let front = Dispatch::new(redirects, routes::router(Arc::clone(&app)));
        let public = Server::start(public, limits, move |worker| {
            let front = front.clone().on_worker(worker);
            move |peer| front.for_peer(peer.ip())
        })?;
        let admin = admin.map(|listeners| {
            let router = TowerToHyperService::new(admin::router(Arc::clone(&app), metrics));
            Server::start(listeners, limits, move |_| {
                let router = router.clone();
                move |_| router.clone()
            })
        });
        Ok(Self { app, public, admin: admin.transpose()?, stop, tasks, lock })
    }

    /// What the program does, for whoever asks from the same process.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Where visitors come in.
    pub fn address(&self) -> SocketAddr {
        self.public.address()
    }

    /// Where the operator looks in.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Handle::address)
    }

    /// Whether nobody administers the server yet.
    pub async fn has_no_administrator(&self) -> bool {
        self.app.has_no_administrator().await
    }

    /// Let requests in flight end, then write what is left.
    pub async fn shutdown(self) -> Result<(), AppError> {
        let Self { app, public, admin, stop, tasks, lock } = self;
        let close = move || public.shutdown() + admin.map_or(0, Handle::shutdown);
        let cut = tokio::task::spawn_blocking(close).await.unwrap_or_default();
        if cut > 0 {
            tracing::warn!(cut, "requests were cut short by the end of the drain timeout");
        }
        stop.cancel();
        tasks.wait().await;
        app.wind_up().await?;
        lock.end();
        Ok(())
    }
}

/// What redirects need of the parts.
fn redirects(parts: &Parts, proxies: Arc<TrustedProxies>) -> RedirectService {
    RedirectService {
        near: Arc::default(),
        links: Arc::clone(&parts.links),
        hosts: Arc::clone(&parts.hosts),
        quota: parts.quota.clone(),
        writer: Arc::clone(&parts.clicks),
        queue: parts.clicks.queue(0),
        visitors: Arc::new(Visitors::new(random(&parts.entropy))),
        date: Arc::default(),
        reserved: Arc::clone(&parts.reserved),
        limits: Arc::clone(&parts.limits),
        proxies,
        throttle: Arc::default(),
        clock: parts.clock.clone(),
    }
}

/// What no single setting's bounds can say.
fn check_cleanup(retention: &Retention) -> Result<(), StartError> {
    if retention.cleanup_lock_at_least <= retention.cleanup_lock_at_most {
        return Ok(());
    }
    let text = "KURZ_CLEANUP_LOCK_AT_LEAST is longer than KURZ_CLEANUP_LOCK_AT_MOST: a lock that \
                is held at most so long cannot be held longer at least; change one of the two";
    Err(StartError::Setting(text.to_owned()))
}

/// A replica lags: what it knows of a month's hits is no base to count from.
fn check_replica(config: &Config) -> Result<(), StartError> {
    if config.store.replica.is_none() || config.redis.url.is_some() {
        return Ok(());
    }
    let text = "KURZ_REPLICA needs KURZ_REDIS: a replica lags behind, and without Redis the hits of \
                a month are counted from what it says; set KURZ_REDIS as well, or leave the replica \
                out";
    Err(StartError::Setting(text.to_owned()))
}

/// Become one of many: hear what the others say, and count with them.
fn join(
    app: &Arc<App>,
    peers: &Arc<Peers>,
    quota: Option<&Arc<SharedQuota>>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let (heard, hearing) = mpsc::channel(HEARD);
    peers.start(heard, tasks, stop);
    if let Some(quota) = quota {
        quota.start(tasks, stop);
    }
    let (app, until) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move { app.listen(hearing, until).await });
}

fn spawn_cleanup(
    retention: &Retention,
    app: &Arc<App>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let schedule = jobs::cleanup::Schedule {
        delay: retention.cleanup_delay,
        every: retention.cleanup_interval,
    };
    let times = CleanupTimes {
        lock_at_least: retention.cleanup_lock_at_least,
        lock_at_most: retention.cleanup_lock_at_most,
        purge_grace: retention.purge_grace,
    };
    tasks.spawn(jobs::cleanup::run(Arc::clone(app), schedule, times, stop.clone()));
}

async fn parts(
    config: &Config,
    store: Arc<Store>,
    bound: SocketAddr,
    clock: Clock,
    entropy: Entropy,
) -> Result<Parts, StartError> {
    let scrambler = scrambler(config, &store, &clock, &entropy).await?;
    let tokens = tokens(config, &store, &clock, &entropy).await?;
    let hit_limit = config.links.hit_limit.unwrap_or(0);
    let redis = config.redis.url.clone();
    let redis = redis.map(|url| Arc::new(Redis::new(url, config.store.tls_ca.clone())));
    let name = channel_name(&store, &clock, &entropy).await?;
    let peers = Arc::new(Peers::new(Arc::clone(&store), redis.clone(), &name, &entropy));
    let quota = redis.map(|redis| {
        let (store, peers, clock) = (Arc::clone(&store), Arc::clone(&peers), clock.clone());
        Arc::new(SharedQuota::new(redis, store, peers, clock, config.redis.on_outage))
    });
    let workers = workers(&config.net).get();
    let clicks = ClickWriter::start(workers, &store, quota.is_some(), clock.now()).await?;
    let blocked = Arc::new(ActiveBlocklist::default());
    let links = LinkCache::new(
        LinkCacheSizes { bytes: config.cache.bytes, workers },
        hit_limit,
        Arc::clone(&store),
        quota.clone(),
        Arc::clone(&blocked),
        clock.clone(),
    );
    Ok(Parts {
        store,
        blocked,
        links: Arc::new(links),
        reuse: Arc::new(ReuseCache::new(config.cache.repeat_bytes)),
        hosts: Arc::new(Hosts::default()),
        peers,
        quota,
        clicks: Arc::new(clicks),
        reserved: Arc::new(routes::reserved()),
        scrambler,
        clock,
        entropy,
        tokens,
        passwords: Arc::new(passwords(&config.rates)?),
        limits: Arc::new(rate_limits(config)),
        policy: policy(config, bound),
    })
}

/// What the instances on this store call themselves on a Redis that others may use as well.
async fn channel_name(
    store: &Store,
    clock: &Clock,
    entropy: &Entropy,
) -> Result<String, StartError> {
    let mut bytes = [0; 9];
    entropy.fill(&mut bytes);
    let fresh = URL_SAFE_NO_PAD.encode(bytes);
    Ok(store.secret_or_keep("fleet", &fresh, clock.now()).await?)
}

fn policy(config: &Config, bound: SocketAddr) -> Policy {
    let user_link_limit = config.access.user_link_limit.unwrap_or(0);
    let public_url = config.net.public_url_at(bound);
    Policy {
        own: OwnAddresses::new(public_url.host(), public_url.effective_port(), bound),
        public_url,
        hit_limit: config.links.hit_limit.unwrap_or(0),
        counter_ttl: config.links.counter_ttl,
        private_targets: config.links.private_targets == PrivateTargets::Allow,
        fixed_targets: config.links.targets == Targets::Fixed,
        host_quarantine: config.links.host_quarantine,
        audit_keep: config.retention.audit_keep,
        open: config.access.open,
        signup: config.access.signup,
        anon_ttl: config.retention.anon_ttl,
        user_link_limit: i64::try_from(user_link_limit).unwrap_or(i64::MAX),
    }
}

fn passwords(rates: &RateLimits) -> std::io::Result<Passwords> {
    Passwords::start(password_threads(rates.password_threads), rates.password_queue, COST)
}

/// As many as were asked for; of 0, one core is left to those who only follow links, however many
/// sign in.
pub fn password_threads(asked: usize) -> NonZeroUsize {
    if let Some(asked) = NonZeroUsize::new(asked) {
        return asked;
    }
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores.saturating_sub(1)).unwrap_or(NonZeroUsize::MIN)
}

/// What signs tokens: the secret that was given, or the one that the store keeps.
async fn tokens(
    config: &Config,
    store: &Store,
    clock: &Clock,
    entropy: &Entropy,
) -> Result<Tokens, StartError> {
    if let Some(secret) = &config.access.jwt_secret {
        return Ok(Tokens::new(secret.expose()));
    }
    let mut bytes = [0; 48];
    entropy.fill(&mut bytes);
    let fresh = URL_SAFE_NO_PAD.encode(bytes);
    Ok(Tokens::new(&store.secret_or_keep("jwt_secret", &fresh, clock.now()).await?))
}

/// The scrambler of counter codes, with the salt that was given, or the one that the store keeps.
async fn scrambler(
    config: &Config,
    store: &Store,
    clock: &Clock,
    entropy: &Entropy,
) -> Result<Scrambler, StartError> {
    let salt = if let Some(salt) = &config.codes.counter_salt {
        salt.expose().to_owned()
    } else {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        let fresh = URL_SAFE_NO_PAD.encode(bytes);
        store.secret_or_keep("counter_salt", &fresh, clock.now()).await?
    };
    let codes = &config.codes;
    Scrambler::new(codes.counter_scramble, &salt, codes.counter_mult.into(), LENGTH).map_err(
        |error| {
            StartError::Setting(format!(
                "counter codes cannot be made (KURZ_COUNTER_SALT, KURZ_COUNTER_MULT): {error}"
            ))
        },
    )
}

fn random(entropy: &Entropy) -> u64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    u64::from_ne_bytes(bytes)
}

fn workers(net: &Net) -> NonZeroUsize {
    let cores = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(net.threads).unwrap_or_else(cores)
}

/// The rate limits; all off where they are not wanted.
fn rate_limits(config: &Config) -> limits::Limits {
    let RateLimits {
        logins_per_account,
        logins_per_address,
        signups,
        anonymous_links,
        anonymous_links_daily,
        misses,
        bad_credentials,
        reports,
        links,
        calls_per_account,
        calls_per_key,
        password_threads: _,
        password_queue: _,
    } = config.rates;
    let numbers = limits::LimitSettings {
        logins_per_account,
        logins_per_address,
        signups,
        anonymous_links,
        anonymous_links_daily,
        misses,
        bad_credentials,
        reports,
        links,
        calls_per_account,
        calls_per_key,
    };
    let none = limits::LimitSettings::default();
    limits::Limits::new(if config.net.limits { &numbers } else { &none })
}

fn connection_limits(net: &Net) -> HttpLimits {
    HttpLimits {
        header_timeout: net.header_timeout,
        body_timeout: net.body_timeout,
        idle_timeout: net.idle_timeout,
        drain_timeout: net.drain_timeout,
        max_connections: net.max_connections,
        max_connections_per_ip: if net.limits { net.max_connections_per_ip } else { 0 },
        max_target_bytes: usize::try_from(net.max_target_bytes).unwrap_or(usize::MAX),
        max_head_bytes: usize::try_from(net.max_head_bytes).unwrap_or(usize::MAX),
        max_fields: net.max_header_fields,
        ..HttpLimits::default()
    }
}
