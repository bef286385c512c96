//! Hearing the others. Each instance says twice a second that it is there, and listens for itself: a
//! channel on which it does not receive its own voice is one on which it would miss the others'.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::peers::{Message, Peers, STORE_CHANNEL};
use crate::redis::{PubSubEvent, Redis, Subscription};
use crate::store::{Error, Listening};

/// How often an instance says that it is there.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(500);
/// After how long without its own voice it is unsubscribed.
const UNSUBSCRIBED_AFTER: Duration = Duration::from_secs(2);
/// When to try again to listen.
const RETRY_AFTER: Duration = Duration::from_millis(250);
/// After this long, the others know that somebody is unsubscribed, and what was said before is forgotten.
const REPORTED_AFTER: Duration = Duration::from_secs(1);

type MessageSender = mpsc::Sender<Message>;

/// Listen to Redis until `stop`.
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
                // Said once for each outage.
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

/// What has been done about not hearing Redis.
#[derive(Default)]
struct Outage {
    said: bool,
    /// When it began, until everything was forgotten that was said before the others knew.
    since: Option<Instant>,
    told: Option<Instant>,
}

/// Listen to the store until `stop`.
pub(super) async fn on_store(peers: Arc<Peers>, received: MessageSender, stop: CancellationToken) {
    let listen = async {
        loop {
            match peers.store.listen(STORE_CHANNEL).await {
                Ok(None) => return,
                Ok(Some(mut subscription)) => {
                    peers.subscribed();
                    peers.attempted.send_modify(|attempted| *attempted += 1);
                    let Err(error) = peers.receive_store(&mut subscription, &received).await;
                    tracing::warn!(%error, "the database is no longer received");
                }
                Err(_) => peers.attempted.send_modify(|attempted| *attempted += 1),
            }
            sleep(RETRY_AFTER).await;
        }
    };
    stop.run_until_cancelled(listen).await;
}

/// After a gap, forget everything, but not before the store can be asked again: until then nothing
/// can change either, and what is in memory is all there is.
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
    /// Pass on what is received, until nothing is.
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
                    // Its failure shows in the breaker, and then in the outage.
                    let _ = redis.publish(&self.channel, &tick).await;
                }
            }
        }
    }

    /// See to it that the others know, and forget once more what they said before they did.
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

    /// Act on a message; whether it was this instance's own.
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
                // Nobody is there to act on it only at the end.
                let _ = received.send(message).await;
            }
        }
        false
    }
}
