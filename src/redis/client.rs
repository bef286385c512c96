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
use crate::redis::wire::{self, Ears, Wire};

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
    wire: ArcSwapOption<Wire>,
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
        let (wire, breaker) = (ArcSwapOption::empty(), Breaker::default());
        Self { url, authorities, wire, breaker, watch: Instant::now() }
    }

    /// Connect, and hear what is said on `channel`. A connection that was there before is dropped.
    pub async fn connect(&self, channel: &str) -> Result<Ears, Away> {
        self.wire.store(None);
        let connected = wire::connect(&self.url, self.authorities.as_deref(), channel).await;
        let (wire, ears) = connected.map_err(|error| away(&error))?;
        self.wire.store(Some(Arc::new(wire)));
        self.breaker.succeeded();
        Ok(ears)
    }

    /// Give the connection up: it is of no use.
    pub fn disconnect(&self) {
        self.wire.store(None);
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
        let wire = self.wire()?;
        metrics::counter!("kurz_redis_commands_total", "command" => "script").increment(1);
        let mut call = script.0.key(key);
        for arg in args {
            call.arg(arg);
        }
        let run = async {
            match wire {
                Wire::One(mut wire) => call.invoke_async(&mut wire).await,
                Wire::Cluster(mut wire) => call.invoke_async(&mut wire).await,
            }
        };
        self.note(timeout(BUDGET, run).await.ok())
    }

    /// Say `text` to all who listen on `channel`. Also while Redis is away: this is how it is found
    /// to be back.
    pub async fn publish(&self, channel: &str, text: &str) -> Result<(), Away> {
        let wire = self.wire()?;
        metrics::counter!("kurz_redis_commands_total", "command" => "publish").increment(1);
        let say = async {
            match wire {
                Wire::One(mut wire) => {
                    redis::cmd("PUBLISH").arg(channel).arg(text).query_async(&mut wire).await
                }
                Wire::Cluster(mut wire) => {
                    redis::cmd("SPUBLISH").arg(channel).arg(text).query_async(&mut wire).await
                }
            }
        };
        self.note(timeout(UNHURRIED, say).await.ok()).map(|_: i64| ())
    }

    /// What a server says about itself, one `name:value` a line; of a cluster, nothing.
    pub(super) async fn describe(&self) -> Result<String, Away> {
        let Wire::One(mut wire) = self.wire()? else { return Ok(String::new()) };
        let info = async { redis::cmd("INFO").query_async(&mut wire).await };
        self.note(timeout(UNHURRIED, info).await.ok())
    }

    fn wire(&self) -> Result<Wire, Away> {
        let wire = self.wire.load();
        wire.as_deref().cloned().ok_or_else(|| Away("there is no connection".to_owned()))
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
