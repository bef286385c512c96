//! Links that expire, and cleanup when a test calls for it. On PostgreSQL cleanup goes by the server's
//! clock, so that a test there moves the rows instead of its own clock.

use std::time::Duration;

use kurz::app::{Cleaned, CleanupTimes};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::home::Kind;
use crate::links;
use crate::server::TestServer;

/// How long after its end a link is purged by [`TestServer::clean_up`].
pub const GRACE: Duration = Duration::from_mins(15);

impl TestServer {
    /// Make a link in the workspace `team` that expires after `ttl`; its code.
    pub async fn expiring(&self, url: &str, ttl: Duration) -> String {
        let expires_at = self.clock.now().plus(ttl).to_rfc3339();
        let body = json!({ "original_url": url, "expires_at": expires_at });
        let link = links::make(&self.http(), "team", &body).await;
        links::code(&link).to_owned()
    }

    /// The status that the address of a link of `team` answers.
    pub async fn follow(&self, code: &str) -> u16 {
        self.http().get(&format!("/w/team/{code}")).await.status
    }

    /// Clean up now.
    pub async fn clean_up(&self) -> Cleaned {
        let times = CleanupTimes {
            lock_at_least: Duration::ZERO,
            lock_at_most: Duration::from_mins(1),
            purge_grace: GRACE,
        };
        let stop = CancellationToken::new();
        self.app().clean_up(times, &stop).await.unwrap().expect("nobody else cleans up")
    }

    /// Let `by` pass for links. On PostgreSQL the rows grow older instead, and kurz starts again, since
    /// its cache knows their old times.
    pub async fn pass(self, by: Duration) -> Self {
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
        Box::pin(self.restart()).await
    }
}
