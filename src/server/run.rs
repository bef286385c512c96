//! Starts and stops the server: store, parts, jobs, listeners.
//!
//! Shutdown order: the listeners, so that no request arrives; the jobs; then the last clicks are
//! written.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::blocklist_file::{BlocklistError, BlocklistFile};
use super::dispatch::WorkerDispatch;
use super::{admin, parts, routes};
use crate::app::{App, AppError, CleanupTimes};
use crate::clicks::classify::ClassifierError;
use crate::client_address::TrustedProxies;
use crate::clock::Clock;
use crate::config::{AdminListen, Config, Retention};
use crate::egress::Checker;
use crate::entropy::Entropy;
use crate::jobs;
use crate::net::tls_reload::TlsReloader;
use crate::net::{Handle, HttpLimits, ListenError, Listeners, Server, TlsError};
use crate::peers::Peers;
use crate::quota::SharedQuota;
use crate::store::{self, ServeLock, Store};
use crate::telemetry::Telemetry;
use crate::telemetry::access_log::RedirectLog;

/// Targets that are checked at the same time.
const CHECKS_AT_ONCE: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not 0");

/// Messages of other instances that may wait to be handled.
const PEER_MESSAGES: usize = 1024;

/// Why the program could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The block list cannot be read.
    #[error(transparent)]
    Blocklist(#[from] BlocklistError),
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
    /// A file that clicks are classified by cannot be used.
    #[error(transparent)]
    Classifier(#[from] ClassifierError),
    /// The first use of the store failed.
    #[error(transparent)]
    App(#[from] AppError),
    /// The settings do not fit this store.
    #[error("{0}")]
    Setting(String),
}

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
        let tls = TlsReloader::open(&config.net, clock.now())?;
        let blocklist = config.links.blocklist.as_deref().map(BlocklistFile::open).transpose()?;
        let (lock, store) = Box::pin(open_store(config)).await?;
        let proxies = config.net.trusted_proxies.clone().unwrap_or_default();
        let proxies = Arc::new(TrustedProxies::new(proxies));
        let public = Listeners::bind(config.net.listen, config.net.workers(), "KURZ_LISTEN")?
            .speaking(tls.as_ref())
            .behind(Arc::clone(&proxies));
        let admin = bind_admin(config.net.admin_listen)?;

        let (bound, drawn) = (public.address(), entropy.clone());
        let parts = parts::parts(config, store, bound, clock.clone(), entropy);
        let parts = Box::pin(parts).await?;
        let redirects = Box::pin(parts::redirects(config, &parts, proxies)).await?;
        let (peers, quota) = (Arc::clone(&parts.peers), parts.quota.clone());
        let geo_file = parts.geo_file.clone();
        let app = Arc::new(App::new(parts).await?);
        // Before the first request: quotas are counted from the tables.
        app.apply_abandoned_clicks(jobs::flush::SILENT, true).await?;
        Box::pin(app.keep_visitor_keys()).await?;

        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let telemetry = Telemetry::start(&config.log, clock.clone(), drawn, &tasks, &stop)?;
        let telemetry = Arc::new(telemetry);
        let redirect_log = RedirectLog::start(&config.log, &tasks, &stop);
        if let Some((file, list)) = blocklist {
            app.block(list);
            tasks.spawn(file.follow(Arc::clone(&app), stop.clone()));
        }
        if let Some(file) = geo_file {
            tasks.spawn(file.follow(stop.clone()));
        }
        if let Some(tls) = tls {
            tasks.spawn(tls.follow(TlsReloader::hangup()?, clock, stop.clone()));
        }
        join_peers(&app, &peers, quota.as_ref(), &tasks, &stop);
        spawn_jobs(&config.retention, &app, &tasks, &stop);
        tasks.spawn(admin::upkeep(metrics.clone(), stop.clone()));
        tasks.close();

        peers.wait_subscribed().await;
        app.load_hosts().await?;
        let limits = HttpLimits::of(&config.net);
        let router = routes::traced_router(Arc::clone(&app), Arc::clone(&telemetry));
        let dispatch = WorkerDispatch::new(redirects, router, telemetry, redirect_log);
        let public = Server::start(public, limits, move |worker| {
            let dispatch = dispatch.clone().on_worker(worker);
            move |peer| dispatch.for_peer(peer.ip())
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

    /// The application, for callers in the same process.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    pub fn address(&self) -> SocketAddr {
        self.public.address()
    }

    /// The address of the admin listener.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Handle::address)
    }

    /// Whether the server has no administrator yet.
    pub async fn has_no_administrator(&self) -> bool {
        self.app.has_no_administrator().await
    }

    /// Let requests in flight end, then write the last clicks.
    pub async fn shutdown(self) -> Result<(), AppError> {
        let Self { app, public, admin, stop, tasks, lock } = self;
        let close = move || public.shutdown() + admin.map_or(0, Handle::shutdown);
        let cut = tokio::task::spawn_blocking(close).await.unwrap_or_default();
        if cut > 0 {
            tracing::warn!(cut, "requests were cut short by the end of the drain timeout");
        }
        stop.cancel();
        tasks.wait().await;
        app.shut_down().await?;
        lock.end();
        Ok(())
    }
}

/// The admin listener. A default address that is taken is no reason not to start.
fn bind_admin(listen: AdminListen) -> Result<Option<Listeners>, ListenError> {
    let Some(address) = listen.address() else { return Ok(None) };
    match Listeners::bind(address, NonZeroUsize::MIN, "KURZ_ADMIN_LISTEN") {
        Err(error) if listen == AdminListen::Default => {
            tracing::warn!(
                "{error}; kurz runs without /metrics: name an address with --admin-listen, or off"
            );
            Ok(None)
        }
        bound => bound.map(Some),
    }
}

/// Lock and open the store, and check that it can be served from.
async fn open_store(config: &Config) -> Result<(ServeLock, Arc<Store>), StartError> {
    let mut lock = ServeLock::take(&config.store.url)?;
    let store = Arc::new(Store::open(&config.store).await?);
    store::verify(&config.store.url, config.store.check_bytes)?;
    lock.serving()?;
    if store.has_unfinished_copy().await? {
        let text = "the store holds an unfinished copy: run the same `kurz copy` again first";
        return Err(StartError::Setting(text.to_owned()));
    }
    Ok((lock, store))
}

/// Subscribe to the other instances' invalidations, and share quotas with them.
fn join_peers(
    app: &Arc<App>,
    peers: &Arc<Peers>,
    quota: Option<&Arc<SharedQuota>>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let (sender, received) = mpsc::channel(PEER_MESSAGES);
    peers.start(sender, tasks, stop);
    if let Some(quota) = quota {
        quota.start(tasks, stop);
    }
    let (app, until) = (Arc::clone(app), stop.clone());
    tasks.spawn(async move { app.apply_invalidations(received, until).await });
}

fn spawn_jobs(
    retention: &Retention,
    app: &Arc<App>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    tasks.spawn(jobs::flush::run(Arc::clone(app), stop.clone()));
    tasks.spawn(jobs::store_connections::run(Arc::clone(app), stop.clone()));
    tasks.spawn(jobs::store_file::run(Arc::clone(app), stop.clone()));
    tasks.spawn(jobs::heartbeat::run(Arc::clone(app), stop.clone()));
    tasks.spawn(jobs::events::run(Arc::clone(app), stop.clone()));
    if app.clickhouse_works().is_some() {
        tasks.spawn(jobs::clickhouse::run(Arc::clone(app), stop.clone()));
    }
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
    if retention.health_checks {
        let checker = Checker::with_system_transport(CHECKS_AT_ONCE);
        tasks.spawn(jobs::target_health::run(Arc::clone(app), checker, stop.clone()));
    }
}
