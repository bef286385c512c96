//! kurz inside the test, with a clock that the test moves.

use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderName;
use kurz::app::App;
use kurz::clock::Clock;
use kurz::config::Config;
use kurz::server::run;
use kurz::store::Store;
use kurz_core::time::Timestamp;

use crate::builder::{Builder, entropy};
use crate::home::Home;
use crate::http::Http;

/// The instant at which the clock of a [`TestServer`] stands first: 2026-03-15T12:00:00Z.
pub const NOON: Timestamp = Timestamp::from_ms(1_773_576_000_000);

/// A running kurz.
pub struct TestServer {
    pub home: Arc<Home>,
    pub clock: Clock,
    config: Config,
    random: bool,
    program: run::RunningServer,
}

impl TestServer {
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) async fn open(home: Arc<Home>, config: Config, clock: Clock, random: bool) -> Self {
        let entropy = entropy(random);
        let program = run::RunningServer::start(&config, clock.clone(), entropy).await.unwrap();
        Self { home, clock, config, random, program }
    }

    /// A client of it.
    pub fn http(&self) -> Http {
        Http::new(&self.base_url())
    }

    /// A client at an address, where the server trusts the proxy at 127.0.0.1.
    pub fn at(&self, address: &str) -> Http {
        self.http().with(HeaderName::from_static("x-forwarded-for"), address)
    }

    /// `http://host:port`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.program.address())
    }

    /// What it does, without HTTP.
    pub fn app(&self) -> &Arc<App> {
        self.program.app()
    }

    /// Its store, opened once more, as another process would.
    pub async fn open_store(&self) -> Store {
        Store::open(&self.config.store).await.unwrap()
    }

    /// Run statements behind kurz's back.
    pub async fn execute(&self, sql: &str) {
        self.home.execute(sql).await;
    }

    /// Move its clock forward.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Stop it, which writes everything down, and start it again on the same store.
    pub async fn restart(self) -> Self {
        let clock = self.clock.clone();
        Box::pin(self.restart_with(clock)).await
    }

    /// Stop it, and start it again with another clock.
    pub async fn restart_with(self, clock: Clock) -> Self {
        let Self { home, config, random, program, .. } = self;
        program.shutdown().await.unwrap();
        Box::pin(Self::open(home, config, clock, random)).await
    }

    /// Stop it.
    pub async fn stop(self) {
        self.program.shutdown().await.unwrap();
    }
}
