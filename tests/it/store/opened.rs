//! A store without a server, and a time that passes: by hand on SQLite, by itself on PostgreSQL.

use std::time::Duration;

use kurz::clock::Clock;
use kurz::store::{HeldLock, Store};
use kurz_core::time::Timestamp;
use kurz_test_support::{Home, Kind, TestServer};

pub(super) struct OpenedStore {
    pub(super) home: Home,
    pub(super) store: Store,
    pub(super) clock: Clock,
}

impl OpenedStore {
    pub(super) async fn new(kind: Kind) -> Self {
        let home = Home::new(kind);
        let config = TestServer::builder().config(&home);
        let store = Store::open(&config.store).await.unwrap();
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

    pub(super) async fn take(&self, by: &str, at_most: Duration) -> Option<HeldLock> {
        self.store.take_lock("cleanup", by, at_most, self.now()).await.unwrap()
    }
}
