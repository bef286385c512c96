//! What instances publish to each other: what they must forget, what they should give back, and that they
//! are there. Through Redis, and through PostgreSQL where there is no Redis or somebody cannot receive from
//! it. What a message means for this instance is `app`'s.
//!
//! Invariants: saying something never waits; whoever may have missed something is told to forget
//! everything; a message that this version does not know means the same.

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

pub use message::Message;

use live_instances::LiveInstances;

/// Messages that may wait to be said, or to be acted on.
const WAITING: usize = 8192;
/// How long to wait for the first try of the channels.
const FIRST_TRY: Duration = Duration::from_secs(2);
/// PostgreSQL's channel; each database has its own.
const STORE_CHANNEL: &str = "kurz_changes";

/// The instances that share a store, seen from one of them.
#[derive(Debug)]
pub struct Peers {
    instance: String,
    /// Redis's channel: all databases of a server share one set of them.
    channel: String,
    redis: Option<Arc<Redis>>,
    store: Arc<Store>,
    has_others: bool,
    live: LiveInstances,
    to_publish: mpsc::Sender<Message>,
    waiting: Mutex<Option<mpsc::Receiver<Message>>>,
    /// More was said than could wait: all must forget everything.
    overflowed: AtomicBool,
    /// Something may have been missed.
    gap: Notify,
    /// How many channels were attempted so far.
    attempted: watch::Sender<usize>,
    /// Whether anything can be in memory yet.
    serving: AtomicBool,
}

impl Peers {
    /// An instance among those on `store` that call themselves `name`; they meet on `redis`, if
    /// there is one.
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

    /// What this process calls itself where instances meet.
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

    /// Wait until every channel was attempted, but not for long: what is received from then on is not missed,
    /// so that nothing has to be forgotten that is read after this.
    pub async fn wait_subscribed(&self) {
        let channels =
            usize::from(self.redis.is_some()) + usize::from(!self.store.is_single_process());
        let mut attempted = self.attempted.subscribe();
        // Late, it is told that it may have missed something.
        let _ = timeout(FIRST_TRY, attempted.wait_for(|attempted| *attempted >= channels)).await;
        self.serving.store(true, Ordering::SeqCst);
    }

    /// A channel was attempted. What was said before may have been missed by whoever serves already.
    fn subscribed(&self) {
        if self.serving.load(Ordering::SeqCst) {
            self.gap.notify_one();
        }
    }

    /// Tell the others. Never waits.
    pub fn publish(&self, message: Message) {
        if self.has_others && self.to_publish.try_send(message).is_err() {
            self.overflowed.store(true, Ordering::Release);
        }
    }

    /// Speak and listen until `stop`; what others publish goes to `received`.
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

/// A name that no other process has, with a part that people can look for.
fn instance_name(entropy: &Entropy) -> String {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    format!("{}-{:016x}", std::process::id(), u64::from_be_bytes(bytes))
}
