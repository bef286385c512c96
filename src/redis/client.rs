//! Calls to Redis, each with a timeout.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use redis::RedisError;
use thiserror::Error;
use tokio::time::{Instant, timeout};

use crate::config::RedisUrl;
use crate::redis::breaker::Breaker;
use crate::redis::connection::{self, RedisConnection, Subscription};

const TIMEOUT: Duration = Duration::from_millis(500);

/// Redis does not answer.
#[derive(Clone, Debug, Error)]
#[error("Redis does not answer: {0}")]
pub struct Away(String);

/// One server or a cluster, connected or not.
pub struct Redis {
    url: RedisUrl,
    authorities: Option<PathBuf>,
    connection: ArcSwapOption<RedisConnection>,
    breaker: Breaker,
    /// The time base of the breaker.
    watch: Instant,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redis({})", self.url)
    }
}

impl Redis {
    pub fn new(url: RedisUrl, authorities: Option<PathBuf>) -> Self {
        let (connection, breaker) = (ArcSwapOption::empty(), Breaker::default());
        Self { url, authorities, connection, breaker, watch: Instant::now() }
    }

    /// Connect and subscribe to `channel`; replaces an earlier connection.
    pub async fn connect(&self, channel: &str) -> Result<Subscription, Away> {
        self.connection.store(None);
        let connected = connection::connect(&self.url, self.authorities.as_deref(), channel).await;
        let (connection, subscription) = connected.map_err(|error| away(&error))?;
        self.connection.store(Some(Arc::new(connection)));
        self.breaker.succeeded();
        Ok(subscription)
    }

    pub fn disconnect(&self) {
        self.connection.store(None);
        if self.breaker.open() {
            tracing::warn!("Redis does not answer");
        }
    }

    pub fn is_away(&self) -> bool {
        self.breaker.is_open()
    }

    /// Publish `text` on `channel`. Also while the breaker is open: the first success closes it.
    pub async fn publish(&self, channel: &str, text: &str) -> Result<(), Away> {
        let connection = self.connection()?;
        metrics::counter!("kurz_redis_commands_total", "command" => "publish").increment(1);
        let say = async {
            match connection {
                RedisConnection::One(mut connection) => {
                    redis::cmd("PUBLISH").arg(channel).arg(text).query_async(&mut connection).await
                }
                RedisConnection::Cluster(mut connection) => {
                    redis::cmd("SPUBLISH").arg(channel).arg(text).query_async(&mut connection).await
                }
            }
        };
        self.note(timeout(TIMEOUT, say).await.ok()).map(|_: i64| ())
    }

    /// The answer to `INFO`, one `name:value` per line; empty for a cluster.
    pub(super) async fn describe(&self) -> Result<String, Away> {
        let RedisConnection::One(mut connection) = self.connection()? else {
            return Ok(String::new());
        };
        let info = async { redis::cmd("INFO").query_async(&mut connection).await };
        self.note(timeout(TIMEOUT, info).await.ok())
    }

    fn connection(&self) -> Result<RedisConnection, Away> {
        let connection = self.connection.load();
        connection.as_deref().cloned().ok_or_else(|| Away("there is no connection".to_owned()))
    }

    /// Report the result of a call to the breaker; `None` is a timeout.
    fn note<T>(&self, called: Option<Result<T, RedisError>>) -> Result<T, Away> {
        let failed = match called {
            Some(Ok(value)) => {
                self.breaker.succeeded();
                return Ok(value);
            }
            Some(Err(error)) => away(&error),
            None => Away("it took too long".to_owned()),
        };
        metrics::counter!("kurz_redis_errors_total").increment(1);
        let at = i64::try_from(self.watch.elapsed().as_millis()).unwrap_or(i64::MAX);
        if self.breaker.failed(at) {
            tracing::warn!(error = %failed, "Redis does not answer");
        }
        Err(failed)
    }
}

fn away(error: &RedisError) -> Away {
    Away(error.to_string())
}
