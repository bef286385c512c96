//! The state of the server: totals, jobs, instances, database, Redis and cache.

use crate::app::{App, AppError, Totals};
use crate::clock::Stopwatch;
use crate::store::Instance;
use kurz_core::account::Caller;
use kurz_core::time::Timestamp;

/// Jobs and instances that are shown.
const JOBS: i64 = 50;
const INSTANCES: i64 = 200;

/// A job that one instance runs at a time, and when it last ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRun {
    pub name: String,
    pub began_at: Timestamp,
    pub until: Timestamp,
    pub instance: String,
}

#[derive(Clone, Debug)]
pub struct ServerStatus {
    pub totals: Totals,
    pub jobs: Vec<JobRun>,
    /// The processes that serve the store.
    pub instances: Vec<Instance>,
    pub instance: String,
    pub store: &'static str,
    /// How long the database took to answer, in milliseconds.
    pub store_ms: f64,
    /// Whether Redis answers; `None` where none is used.
    pub redis_answers: Option<bool>,
    pub cached_links: usize,
    /// About how many bytes they take.
    pub cached_bytes: u64,
    /// Links whose redirects are not written yet.
    pub unwritten: usize,
    pub now: Timestamp,
}

impl App {
    pub async fn server_status(&self, caller: &Caller) -> Result<ServerStatus, AppError> {
        Self::require_admin(caller)?;
        let watch = Stopwatch::start();
        self.check_store().await?;
        let store_ms = watch.elapsed().as_secs_f64() * 1000.0;
        let (cached_links, cached_bytes) = self.cache_size();
        let jobs = self.parts.store.list_locks(JOBS).await?;
        let jobs = jobs.into_iter().map(|(name, began_at, until, instance)| JobRun {
            name,
            began_at,
            until,
            instance,
        });
        Ok(ServerStatus {
            totals: self.totals().await?,
            jobs: jobs.collect(),
            instances: self.parts.store.list_instances(INSTANCES).await?,
            instance: self.parts.peers.instance().to_owned(),
            store: self.parts.store.kind(),
            store_ms,
            redis_answers: self.parts.peers.redis_answers(),
            cached_links,
            cached_bytes,
            unwritten: self.unwritten().await,
            now: self.parts.clock.now(),
        })
    }
}
