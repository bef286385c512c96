//! Messages between instances: cache invalidations, requests to return reserved hits, and heartbeats.
//! Over Redis; over PostgreSQL where there is no Redis or an instance has no subscription to it. What
//! a message means is decided by `app`.
//!
//! Invariants: publishing never waits; an instance that may have missed a message invalidates
//! everything, and so does one that receives a message it cannot read.

mod subscriber;
mod message;
mod live_instances;
mod publisher;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::entropy::Entropy;
use crate::redis::Redis;
use crate::store::Store;

pub(crate) use message::Message;

use live_instances::LiveInstances;

/// Messages that may wait to be published.
const WAITING: usize = 8192;
/// How long to wait for the first attempt to subscribe.
const FIRST_TRY: Duration = Duration::from_secs(2);
/// The PostgreSQL channel; channels are per database.
const STORE_CHANNEL: &str = "kurz_changes";

/// The instances that share a store, seen from one of them.
#[derive(Debug)]
pub struct Peers {
    instance: String,
    /// The Redis channel; channels are per server, hence the store's name in it.
    channel: String,
    redis: Option<Arc<Redis>>,
    store: Arc<Store>,
    has_others: bool,
    live: LiveInstances,
    to_publish: mpsc::Sender<Message>,
    waiting: Mutex<Option<mpsc::Receiver<Message>>>,
    /// The queue was full: everything must be invalidated everywhere.
    overflowed: AtomicBool,
    /// A message may have been missed.
    gap: Notify,
    /// How many channels an attempt to subscribe was made on.
    attempted: watch::Sender<usize>,
    /// Whether the caches can hold anything yet.
    serving: AtomicBool,
}

impl Peers {
    /// A new instance on `store`; `name` is the store's name on `redis`.
    pub fn new(
        store: Arc<Store>,
        redis: Option<Arc<Redis>>,
        name: &str,
        entropy: &Entropy,
    ) -> Self {
        let (to_publish, waiting) = mpsc::channel(WAITING);
        Self {
            instance: instance_name(entropy),
            channel: format!("kurz:{name}"),
            has_others: redis.is_some() || !store.is_single_process(),
            redis,
            store,
            live: LiveInstances::default(),
            to_publish,
            waiting: Mutex::new(Some(waiting)),
            overflowed: AtomicBool::new(false),
            gap: Notify::new(),
            attempted: watch::Sender::new(0),
            serving: AtomicBool::new(false),
        }
    }

    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// How many instances there are, this one included.
    pub fn size(&self) -> u64 {
        self.live.count()
    }

    /// Whether Redis answers; `None` without one.
    pub fn redis_answers(&self) -> Option<bool> {
        self.redis.as_ref().map(|redis| !redis.is_away())
    }

    /// Wait, for a limited time, until every channel is subscribed to: what is read from the store
    /// after that needs no invalidation.
    pub async fn wait_subscribed(&self) {
        let channels =
            usize::from(self.redis.is_some()) + usize::from(!self.store.is_single_process());
        let mut attempted = self.attempted.subscribe();
        // After the limit, subscribing counts as a gap.
        let _ = timeout(FIRST_TRY, attempted.wait_for(|attempted| *attempted >= channels)).await;
        self.serving.store(true, Ordering::SeqCst);
    }

    /// An attempt to subscribe was made. If the instance serves already, messages were missed.
    fn subscribed(&self) {
        if self.serving.load(Ordering::SeqCst) {
            self.gap.notify_one();
        }
    }

    /// Publish to the other instances. Never waits.
    pub fn publish(&self, message: Message) {
        if self.has_others && self.to_publish.try_send(message).is_err() {
            self.overflowed.store(true, Ordering::Release);
        }
    }

    /// Publish and subscribe until `stop`; messages of others go to `received`.
    pub fn start(
        self: &Arc<Self>,
        received: mpsc::Sender<Message>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(waiting), true) = (waiting, self.has_others) else { return };
        tasks.spawn(publisher::run(Arc::clone(self), waiting, stop.clone()));
        tasks.spawn(subscriber::on_store(Arc::clone(self), received.clone(), stop.clone()));
        tasks.spawn(subscriber::invalidate_after_gap(
            Arc::clone(self),
            received.clone(),
            stop.clone(),
        ));
        if let Some(redis) = &self.redis {
            let redis = Arc::clone(redis);
            tasks.spawn(subscriber::on_redis(Arc::clone(self), redis, received, stop.clone()));
        }
    }
}

/// A unique name of this process, with the process id in it.
fn instance_name(entropy: &Entropy) -> String {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    format!("{}-{:016x}", std::process::id(), u64::from_be_bytes(bytes))
}
