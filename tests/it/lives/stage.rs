//! kurz inside the test, or its store alone, with a clock that the test moves and a cleanup that comes when it is called;
//! and a way to look into its database. On PostgreSQL the cleanup goes by the server's clock, so a
//! test there moves the rows instead.

use std::time::Duration;

use kurz::app::{Cleaned, CleanupTimes};
use kurz::clock::Clock;
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use kurz::store::{Holding, Store};
use kurz_core::time::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::http::Http;
use crate::harness::instance::{Home, Kind};

/// The grace of a staged kurz.
pub(super) const GRACE: Duration = Duration::from_mins(15);

/// The settings of a kurz on `home`, which cleans up only when it is told to.
pub(super) fn config(home: &Home) -> Config {
    let env = [
        ("KURZ_STORE", home.store().as_str()),
        ("KURZ_LISTEN", "127.0.0.1:0"),
        ("KURZ_ADMIN_LISTEN", "off"),
        ("KURZ_OPEN", "on"),
        ("KURZ_THREADS", "1"),
        ("KURZ_CLEANUP_DELAY", "1d"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let nowhere = tempfile::tempdir().unwrap();
    Config::load(&Overrides::default(), env, nowhere.path()).unwrap()
}

/// A running kurz.
pub(super) struct Stage {
    pub(super) home: Home,
    pub(super) clock: Clock,
    pub(super) program: RunningServer,
}

impl Stage {
    /// Its clock stands at the real time until it is moved.
    pub(super) async fn start(kind: Kind) -> Self {
        let home = Home::new(kind);
        let clock = Clock::manual(Clock::system().now());
        Self::open(home, clock).await
    }

    /// Stop, and start again as after a reboot: nothing is left in memory.
    pub(super) async fn restart(self, at: Timestamp) -> Self {
        self.program.shutdown().await.unwrap();
        Self::open(self.home, Clock::manual(at)).await
    }

    async fn open(home: Home, clock: Clock) -> Self {
        let program =
            RunningServer::start(&config(&home), clock.clone(), Entropy::os()).await.unwrap();
        Self { home, clock, program }
    }

    pub(super) fn http(&self) -> Http {
        Http::new(&format!("http://{}", self.program.address()))
    }

    /// Make a link in the workspace; its JSON.
    pub(super) async fn link(&self, workspace: &str, request: &Value) -> Value {
        let path = format!("/api/v1/workspaces/{workspace}/links");
        self.http().post(&path, request).await.expect(201).json()
    }

    /// Make a link in the workspace `team` that lives for `ttl`; its code.
    pub(super) async fn mortal(&self, url: &str, ttl: Duration) -> String {
        let expires_at = self.clock.now().plus(ttl).to_rfc3339();
        let link =
            self.link("team", &json!({ "original_url": url, "expires_at": expires_at })).await;
        link["short_code"].as_str().unwrap().to_owned()
    }

    /// What the address of a link of `team` answers.
    pub(super) async fn follow(&self, code: &str) -> u16 {
        self.http().get(&format!("/w/team/{code}")).await.status
    }

    /// Clean up now.
    pub(super) async fn clean_up(&self) -> Cleaned {
        let times = CleanupTimes {
            lock_at_least: Duration::ZERO,
            lock_at_most: Duration::from_mins(1),
            purge_grace: GRACE,
        };
        let stop = CancellationToken::new();
        self.program.app().clean_up(times, &stop).await.unwrap().expect("nobody else cleans up")
    }

    /// Let `by` pass. On PostgreSQL the rows grow older instead, and kurz starts again, since its
    /// cache knows their old times.
    pub(super) async fn pass(self, by: Duration) -> Self {
        if self.home.kind() == Kind::Sqlite {
            self.clock.advance(by);
            return self;
        }
        let ms = by.as_millis();
        let older = format!(
            "update links set expires_at = expires_at - {ms}, expired_at = expired_at - {ms},
                 deleted_at = deleted_at - {ms}"
        );
        self.home.execute(&older).await;
        let now = self.clock.now();
        self.restart(now).await
    }
}

/// A store, and a time that passes: by hand on SQLite, by itself on PostgreSQL.
pub(super) struct Bench {
    pub(super) home: Home,
    pub(super) store: Store,
    pub(super) clock: Clock,
}

impl Bench {
    pub(super) async fn new(kind: Kind) -> Self {
        let home = Home::new(kind);
        let store = Store::open(&config(&home).store).await.unwrap();
        Self { home, store, clock: Clock::manual(Clock::system().now()) }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) async fn pass(&self, by: Duration) {
        self.clock.advance(by);
        if self.home.kind() == Kind::Postgres {
            // The server's clock is nobody's to move.
            tokio::time::sleep(by).await;
        }
    }

    pub(super) async fn take(&self, by: &str, at_most: Duration) -> Option<Holding> {
        self.store.take_lock("cleanup", by, at_most, self.now()).await.unwrap()
    }
}
