//! `kurz serve`: the server.

use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::time::Instant;

use crate::cli::lines::print_line;
use crate::cli::settings::{self, Settings};
use crate::cli::{CliError, logs};
use crate::clock::Clock;
use crate::config::Config;
use crate::entropy::Entropy;
use crate::net::signals::Signals;
use crate::server::run::RunningServer;
use crate::store;

const EXAMPLES: &str = "\
Examples:
  kurz serve                                         embedded SQLite, on 127.0.0.1:8080
  kurz serve --port 8081 --store links.db            a file and a port of its own
  kurz serve --listen :80 --store /var/lib/kurz/kurz.db    on every address of this machine
  KURZ_STORE=postgres://kurz@db/kurz kurz serve --open
  kurz serve --store postgres://kurz@db/kurz --redis redis://cache    one of many instances

Every setting is also KURZ_NAME in the environment and a line in kurz.toml; see docs/CONFIG.md.";

/// Run the server: redirects, API and pages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// No accounts: every caller may do everything
    #[arg(long)]
    open: bool,
    /// Address to listen on, or a port of this machine [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The port alone; the address stays
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
    /// Address of /metrics, or off [default: 127.0.0.1:9580, if it is free]
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<String>,
    /// What is logged: error, warn, info, debug, trace, off, or directives [default: info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// Redis for several instances: shared quotas and invalidation [default: none]
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    #[command(flatten)]
    settings: Settings,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let mut overrides = args.settings.overrides();
    overrides.set("open", args.open.then_some("true"));
    overrides.set("listen", args.listen.as_deref());
    overrides.port = args.port;
    overrides.set("admin_listen", args.admin_listen.as_deref());
    overrides.set("log", args.log.as_deref());
    overrides.set("redis", args.redis.as_deref());
    let config = settings::load(&overrides)?;
    logs::init(&config.log)?;
    raise_descriptors(config.net.max_connections);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| CliError::Failed(format!("cannot start the runtime: {error}")))?;
    let done = runtime.block_on(serve(&config));
    // Whoever asked twice does not wait for requests in flight.
    runtime.shutdown_background();
    done
}

async fn serve(config: &Config) -> Result<(), CliError> {
    let failed = |error: &dyn std::fmt::Display| CliError::Failed(error.to_string());
    // Before anything is started: a signal that comes early is not lost.
    let mut signals = Signals::listen().map_err(|error| failed(&error))?;
    let program = RunningServer::start(config, Clock::system(), Entropy::os())
        .await
        .map_err(|error| failed(&error))?;
    if config.access.open {
        warn_open(config);
    } else if program.has_no_administrator().await {
        let hint = "nobody administers this server yet: make the first administrator with \
                    `kurz user add EMAIL --admin`; anybody can shorten meanwhile";
        tracing::info!("{hint}");
    }
    if let Some(exposed) = store::exposed_files(&config.store.url) {
        tracing::warn!("{exposed}");
    }
    print_line(&format!("store {}", config.store.url.absolute()))?;
    if let Some(admin) = program.admin_address() {
        print_line(&format!("admin on http://{admin}"))?;
    }
    let scheme = config.net.scheme();
    print_line(&format!("listening on {scheme}://{}", program.address()))?;
    let signal = signals.next().await;
    tracing::info!(signal, "stopping: requests in flight may end");
    // A service manager and a terminal may both send one: that is one request to stop.
    let asked = Instant::now();
    let second = async {
        loop {
            let signal = signals.next().await;
            if asked.elapsed() >= SAME_SIGNAL {
                return signal;
            }
        }
    };
    tokio::select! {
        done = program.shutdown() => done.map_err(|error| {
            failed(&format!("the last click counts could not be written: {error}"))
        }),
        // Somebody who asks twice means it.
        signal = second => Err(failed(&format!("stopped at once by a second {signal}"))),
    }
}

/// Signals that come this soon after the first are the same one.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// Descriptors beside those of connections: listeners, the database's files, pipes.
const OTHER_DESCRIPTORS: u64 = 200;

/// Take as many descriptors as the system gives, and say when connections will run short of them.
/// Login shells and service managers hand on a soft limit of 1,024, for the sake of programs that
/// use `select`.
fn raise_descriptors(connections: usize) {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let most = match setrlimit(Resource::Nofile, limit) {
        Ok(()) => limit.maximum,
        Err(_) => getrlimit(Resource::Nofile).current,
    };
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_DESCRIPTORS);
    if let Some(most) = most.filter(|most| *most < wanted) {
        tracing::warn!(
            "the system gives {most} file descriptors, and KURZ_MAX_CONNECTIONS={connections} takes \
             {wanted}: raise the limit (LimitNOFILE= in systemd, ulimit -Hn in a shell)"
        );
    }
}

/// Say loudly that anybody may do anything.
fn warn_open(config: &Config) {
    let how = "open mode (--open)";
    if config.net.listen.ip().is_loopback() {
        tracing::warn!("{how}: everybody on this machine may create, edit and delete every link");
    } else {
        tracing::warn!(
            "{how}: EVERYBODY WHO REACHES {} may create, edit and delete every link",
            config.net.listen
        );
    }
}
