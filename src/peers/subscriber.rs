//! Subscribes to the other instances' messages. Each instance publishes a heartbeat twice a second and
//! receives its own: a channel that does not deliver it would not deliver the others' messages either.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::peers::{Message, Peers, STORE_CHANNEL};
use crate::redis::{PubSubEvent, Redis, Subscription};
use crate::store::{Error, Listening};

const HEARTBEAT_EVERY: Duration = Duration::from_millis(500);
/// After how long without its own heartbeat a subscription counts as lost.
const UNSUBSCRIBED_AFTER: Duration = Duration::from_secs(2);
/// The delay before subscribing again.
const RETRY_AFTER: Duration = Duration::from_millis(250);
/// After this long the others know that an instance is unsubscribed; what was published before is invalidated.
const REPORTED_AFTER: Duration = Duration::from_secs(1);

type MessageSender = mpsc::Sender<Message>;

/// Subscribe to Redis until `stop`.
pub(super) async fn on_redis(
    peers: Arc<Peers>,
    redis: Arc<Redis>,
    received: MessageSender,
    stop: CancellationToken,
) {
    let listen = async {
        let mut outage = Outage::default();
        let mut looked = false;
        loop {
            match redis.connect(&peers.channel).await {
                Ok(subscription) => {
                    tracing::info!("instances talk through Redis");
                    if !looked {
                        looked = true;
                        for worry in redis.worries().await.unwrap_or_default() {
                            tracing::warn!("{worry}");
                        }
                    }
                    peers.subscribed();
                    peers.attempted.send_modify(|attempted| *attempted += 1);
                    peers.receive_redis(&redis, subscription, &received).await;
                    redis.disconnect();
                    peers.gap.notify_one();
                    outage = Outage { since: Some(Instant::now()), ..Outage::default() };
                }
                // Logged once per outage.
                Err(error) if !outage.said => {
                    outage.said = true;
                    redis.disconnect();
                    tracing::warn!(%error, "instances talk through the database meanwhile");
                }
                Err(_) => {}
            }
            peers.attempted.send_modify(|attempted| *attempted += 1);
            peers.report_outage(&mut outage).await;
            sleep(RETRY_AFTER).await;
        }
    };
    stop.run_until_cancelled(listen).await;
}

/// The handling of an outage of Redis.
#[derive(Default)]
struct Outage {
    said: bool,
    /// When it began; `None` once everything was invalidated that was published before the others knew.
    since: Option<Instant>,
    told: Option<Instant>,
}

/// Subscribe to the store's notifications until `stop`.
pub(super) async fn on_store(peers: Arc<Peers>, received: MessageSender, stop: CancellationToken) {
    let listen = async {
        loop {
            match peers.store.listen(STORE_CHANNEL).await {
                Ok(None) => return,
                Ok(Some(mut subscription)) => {
                    peers.subscribed();
                    peers.attempted.send_modify(|attempted| *attempted += 1);
                    let Err(error) = peers.receive_store(&mut subscription, &received).await;
                    tracing::warn!(%error, "the subscription to the database ended");
                }
                Err(_) => peers.attempted.send_modify(|attempted| *attempted += 1),
            }
            sleep(RETRY_AFTER).await;
        }
    };
    stop.run_until_cancelled(listen).await;
}

/// After a gap, invalidate everything, but not before the store answers again: until then nothing can
/// change, and only the caches can serve.
pub(super) async fn invalidate_after_gap(
    peers: Arc<Peers>,
    received: MessageSender,
    stop: CancellationToken,
) {
    let invalidate_after_gap = async {
        loop {
            peers.gap.notified().await;
            while peers.store.ping().await.is_err() {
                sleep(RETRY_AFTER).await;
            }
            let _ = received.send(Message::InvalidateAll).await;
        }
    };
    stop.run_until_cancelled(invalidate_after_gap).await;
}

impl Peers {
    /// Pass messages on until the subscription is lost.
    async fn receive_redis(
        &self,
        redis: &Redis,
        mut subscription: Subscription,
        received: &MessageSender,
    ) {
        let mut ticks = interval(HEARTBEAT_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut own_heartbeat = Instant::now();
        let tick = Message::Heartbeat.write(&self.instance);
        loop {
            tokio::select! {
                event = subscription.next() => match event {
                    Some(PubSubEvent::Text(text)) => {
                        if self.deliver(&text, received).await {
                            own_heartbeat = Instant::now();
                        }
                    }
                    Some(PubSubEvent::Lost) | None => return,
                },
                _ = ticks.tick() => {
                    if own_heartbeat.elapsed() > UNSUBSCRIBED_AFTER {
                        return;
                    }
                    // A failure opens the breaker, which ends this loop.
                    let _ = redis.publish(&self.channel, &tick).await;
                }
            }
        }
    }

    /// Tell the others of the outage, and invalidate once more what they published before they knew.
    async fn report_outage(&self, outage: &mut Outage) {
        if outage.told.is_none_or(|at| at.elapsed() >= HEARTBEAT_EVERY) {
            let unsubscribed = Message::Unsubscribed.write(&self.instance);
            let told = timeout(RETRY_AFTER, self.store.notify(STORE_CHANNEL, &unsubscribed)).await;
            outage.told = matches!(told, Ok(Ok(()))).then(Instant::now);
        }
        if outage.since.is_some_and(|at| at.elapsed() >= REPORTED_AFTER) {
            outage.since = None;
            self.gap.notify_one();
        }
    }

    async fn receive_store(
        &self,
        subscription: &mut Listening,
        received: &MessageSender,
    ) -> Result<std::convert::Infallible, Error> {
        loop {
            let text = subscription.next().await?;
            self.deliver(&text, received).await;
        }
    }

    /// Handle a message; whether it was this instance's own.
    async fn deliver(&self, text: &str, received: &MessageSender) -> bool {
        let arrived = Message::read(text);
        self.live.received(&arrived.from);
        if arrived.from == self.instance {
            return true;
        }
        match arrived.message {
            Message::Heartbeat => {}
            Message::Unsubscribed => self.live.note_unsubscribed(),
            message => {
                // The receiver is gone only at shutdown.
                let _ = received.send(message).await;
            }
        }
        false
    }
}
