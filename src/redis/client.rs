//! What is asked of Redis, each within its budget.

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

/// How long a redirect can wait for one answer.
const BUDGET: Duration = Duration::from_millis(20);
/// How long anything that nobody waits for may take.
const UNHURRIED: Duration = Duration::from_millis(500);

/// Redis does not answer.
#[derive(Clone, Debug, Error)]
#[error("Redis does not answer: {0}")]
pub struct Away(String);

/// A script that Redis runs in one step, on one key.
#[derive(Debug)]
pub struct Script(redis::Script);

impl Script {
    /// From its text.
    pub fn new(text: &str) -> Self {
        Self(redis::Script::new(text))
    }
}

/// One server or a cluster, connected or not.
pub struct Redis {
    url: RedisUrl,
    authorities: Option<PathBuf>,
    connection: ArcSwapOption<RedisConnection>,
    breaker: Breaker,
    /// Since it was made; what the breaker goes by.
    watch: Instant,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redis({})", self.url)
    }
}

impl Redis {
    /// Not connected yet.
    pub fn new(url: RedisUrl, authorities: Option<PathBuf>) -> Self {
        let (connection, breaker) = (ArcSwapOption::empty(), Breaker::default());
        Self { url, authorities, connection, breaker, watch: Instant::now() }
    }

    /// Connect, and receive what is said on `channel`. A connection that was there before is dropped.
    pub async fn connect(&self, channel: &str) -> Result<Subscription, Away> {
        self.connection.store(None);
        let connected = connection::connect(&self.url, self.authorities.as_deref(), channel).await;
        let (connection, subscription) = connected.map_err(|error| away(&error))?;
        self.connection.store(Some(Arc::new(connection)));
        self.breaker.succeeded();
        Ok(subscription)
    }

    /// Give the connection up: it is of no use.
    pub fn disconnect(&self) {
        self.connection.store(None);
        if self.breaker.open() {
            tracing::warn!("Redis does not answer");
        }
    }

    /// Whether nobody should wait for it.
    pub fn is_away(&self) -> bool {
        self.breaker.is_open()
    }

    /// Run a script on `key`; the numbers that it gives back. Refused at once while Redis is away.
    pub async fn run(&self, script: &Script, key: &str, args: &[String]) -> Result<Vec<i64>, Away> {
        if self.is_away() {
            return Err(Away("it has not answered lately".to_owned()));
        }
        let connection = self.connection()?;
        metrics::counter!("kurz_redis_commands_total", "command" => "script").increment(1);
        let mut call = script.0.key(key);
        for arg in args {
            call.arg(arg);
        }
        let run = async {
            match connection {
                RedisConnection::One(mut connection) => call.invoke_async(&mut connection).await,
                RedisConnection::Cluster(mut connection) => {
                    call.invoke_async(&mut connection).await
                }
            }
        };
        self.note(timeout(BUDGET, run).await.ok())
    }

    /// Say `text` to all who listen on `channel`. Also while Redis is away: this is how it is found
    /// to be back.
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
        self.note(timeout(UNHURRIED, say).await.ok()).map(|_: i64| ())
    }

    /// What a server says about itself, one `name:value` a line; of a cluster, nothing.
    pub(super) async fn describe(&self) -> Result<String, Away> {
        let RedisConnection::One(mut connection) = self.connection()? else {
            return Ok(String::new());
        };
        let info = async { redis::cmd("INFO").query_async(&mut connection).await };
        self.note(timeout(UNHURRIED, info).await.ok())
    }

    fn connection(&self) -> Result<RedisConnection, Away> {
        let connection = self.connection.load();
        connection.as_deref().cloned().ok_or_else(|| Away("there is no connection".to_owned()))
    }

    /// Let the breaker know how a call went; `None` is one that took too long.
    fn note<T>(&self, called: Option<Result<T, RedisError>>) -> Result<T, Away> {
        let failed = match called {
            Some(Ok(value)) => {
                self.breaker.succeeded();
                return Ok(value);
            }
            Some(Err(error)) => away(&error),
            None => Away("it took too long".to_owned()),
        };
        metrics::counter!("kurz_redis_failures_total").increment(1);
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
