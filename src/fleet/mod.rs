//! What instances say to each other: what they must forget, what they should give back, and that they
//! are there. Through Redis, and through PostgreSQL where there is no Redis or somebody cannot hear
//! it. What a message means for this instance is `app`'s.
//!
//! Invariants: saying something never waits; whoever may have missed something is told to forget
//! everything; a message that this version does not know means the same.

mod ears;
mod message;
mod peers;
mod voice;

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

use peers::Peers;

/// Messages that may wait to be said, or to be acted on.
const WAITING: usize = 8192;
/// How long to wait for the first try of the channels.
const FIRST_TRY: Duration = Duration::from_secs(2);
/// PostgreSQL's channel; each database has its own.
const STORE_CHANNEL: &str = "kurz_changes";

/// The instances that share a store, seen from one of them.
#[derive(Debug)]
pub struct Fleet {
    instance: String,
    /// Redis's channel: all databases of a server share one set of them.
    channel: String,
    redis: Option<Arc<Redis>>,
    store: Arc<Store>,
    has_others: bool,
    peers: Peers,
    to_say: mpsc::Sender<Message>,
    waiting: Mutex<Option<mpsc::Receiver<Message>>>,
    /// More was said than could wait: all must forget everything.
    overflowed: AtomicBool,
    /// Something may have been missed.
    gap: Notify,
    /// How many channels were tried so far.
    tried: watch::Sender<usize>,
    /// Whether anything can be in memory yet.
    serving: AtomicBool,
}

impl Fleet {
    /// An instance among those on `store` that call themselves `name`; they meet on `redis`, if
    /// there is one.
    pub fn new(
        store: Arc<Store>,
        redis: Option<Arc<Redis>>,
        name: &str,
        entropy: &Entropy,
    ) -> Self {
        let (to_say, waiting) = mpsc::channel(WAITING);
        Self {
            instance: instance_name(entropy),
            channel: format!("kurz:{name}"),
            has_others: redis.is_some() || !store.is_single_process(),
            redis,
            store,
            peers: Peers::default(),
            to_say,
            waiting: Mutex::new(Some(waiting)),
            overflowed: AtomicBool::new(false),
            gap: Notify::new(),
            tried: watch::Sender::new(0),
            serving: AtomicBool::new(false),
        }
    }

    /// What this process calls itself where instances meet.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// How many instances there are, this one included.
    pub fn size(&self) -> u64 {
        self.peers.count()
    }

    /// Whether Redis answers; `None` without one.
    pub fn redis_answers(&self) -> Option<bool> {
        self.redis.as_ref().map(|redis| !redis.is_away())
    }

    /// Wait until every channel was tried, but not for long: what is heard from then on is not missed,
    /// so that nothing has to be forgotten that is read after this.
    pub async fn listening(&self) {
        let channels =
            usize::from(self.redis.is_some()) + usize::from(!self.store.is_single_process());
        let mut tried = self.tried.subscribe();
        // Late, it is told that it may have missed something.
        let _ = timeout(FIRST_TRY, tried.wait_for(|tried| *tried >= channels)).await;
        self.serving.store(true, Ordering::SeqCst);
    }

    /// A channel was tried. What was said before may have been missed by whoever serves already.
    fn heard_from_now_on(&self) {
        if self.serving.load(Ordering::SeqCst) {
            self.gap.notify_one();
        }
    }

    /// Tell the others. Never waits.
    pub fn say(&self, message: Message) {
        if self.has_others && self.to_say.try_send(message).is_err() {
            self.overflowed.store(true, Ordering::Release);
        }
    }

    /// Speak and listen until `stop`; what others say goes to `heard`.
    pub fn start(
        self: &Arc<Self>,
        heard: mpsc::Sender<Message>,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(waiting), true) = (waiting, self.has_others) else { return };
        tasks.spawn(voice::run(Arc::clone(self), waiting, stop.clone()));
        tasks.spawn(ears::on_store(Arc::clone(self), heard.clone(), stop.clone()));
        tasks.spawn(ears::catch_up(Arc::clone(self), heard.clone(), stop.clone()));
        if let Some(redis) = &self.redis {
            let redis = Arc::clone(redis);
            tasks.spawn(ears::on_redis(Arc::clone(self), redis, heard, stop.clone()));
        }
    }
}

/// A name that no other process has, with a part that people can look for.
fn instance_name(entropy: &Entropy) -> String {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    format!("{}-{:016x}", std::process::id(), u64::from_be_bytes(bytes))
}
