//! Hearing the others. Each instance says twice a second that it is there, and listens for itself: a
//! channel on which it does not hear its own voice is one on which it would miss the others'.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::fleet::{Fleet, Message, STORE_CHANNEL};
use crate::redis::{Ears, Redis, Sound};
use crate::store::{Error, Listening};

/// How often an instance says that it is there.
const TICK: Duration = Duration::from_millis(500);
/// After how long without its own voice it is deaf.
const DEAF_AFTER: Duration = Duration::from_secs(2);
/// When to try again to listen.
const AGAIN: Duration = Duration::from_millis(250);
/// After this long, the others know that somebody is deaf, and what was said before is forgotten.
const KNOWN_AFTER: Duration = Duration::from_secs(1);

type Heard = mpsc::Sender<Message>;

/// Listen to Redis until `stop`.
pub(super) async fn on_redis(
    fleet: Arc<Fleet>,
    redis: Arc<Redis>,
    heard: Heard,
    stop: CancellationToken,
) {
    let listen = async {
        let mut silence = Silence::default();
        let mut looked = false;
        loop {
            match redis.connect(&fleet.channel).await {
                Ok(ears) => {
                    tracing::info!("instances talk through Redis");
                    if !looked {
                        looked = true;
                        for worry in redis.worries().await.unwrap_or_default() {
                            tracing::warn!("{worry}");
                        }
                    }
                    fleet.heard_from_now_on();
                    fleet.tried.send_modify(|tried| *tried += 1);
                    fleet.hear_redis(&redis, ears, &heard).await;
                    redis.disconnect();
                    fleet.gap.notify_one();
                    silence = Silence { since: Some(Instant::now()), ..Silence::default() };
                }
                // Said once for each outage.
                Err(error) if !silence.said => {
                    silence.said = true;
                    redis.disconnect();
                    tracing::warn!(%error, "instances talk through the database meanwhile");
                }
                Err(_) => {}
            }
            fleet.tried.send_modify(|tried| *tried += 1);
            fleet.bear(&mut silence).await;
            sleep(AGAIN).await;
        }
    };
    stop.run_until_cancelled(listen).await;
}

/// What has been done about not hearing Redis.
#[derive(Default)]
struct Silence {
    said: bool,
    /// When it began, until everything was forgotten that was said before the others knew.
    since: Option<Instant>,
    told: Option<Instant>,
}

/// Listen to the store until `stop`.
pub(super) async fn on_store(fleet: Arc<Fleet>, heard: Heard, stop: CancellationToken) {
    let listen = async {
        loop {
            match fleet.store.listen(STORE_CHANNEL).await {
                Ok(None) => return,
                Ok(Some(mut ears)) => {
                    fleet.heard_from_now_on();
                    fleet.tried.send_modify(|tried| *tried += 1);
                    let Err(error) = fleet.hear_store(&mut ears, &heard).await;
                    tracing::warn!(%error, "the database is no longer heard");
                }
                Err(_) => fleet.tried.send_modify(|tried| *tried += 1),
            }
            sleep(AGAIN).await;
        }
    };
    stop.run_until_cancelled(listen).await;
}

/// After a gap, forget everything, but not before the store can be asked again: until then nothing
/// can change either, and what is in memory is all there is.
pub(super) async fn catch_up(fleet: Arc<Fleet>, heard: Heard, stop: CancellationToken) {
    let catch_up = async {
        loop {
            fleet.gap.notified().await;
            while fleet.store.ping().await.is_err() {
                sleep(AGAIN).await;
            }
            let _ = heard.send(Message::Everything).await;
        }
    };
    stop.run_until_cancelled(catch_up).await;
}

impl Fleet {
    /// Pass on what is heard, until nothing is.
    async fn hear_redis(&self, redis: &Redis, mut ears: Ears, heard: &Heard) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut own_voice = Instant::now();
        let tick = Message::Tick.write(&self.instance);
        loop {
            tokio::select! {
                sound = ears.next() => match sound {
                    Some(Sound::Text(text)) => {
                        if self.pass_on(&text, heard).await {
                            own_voice = Instant::now();
                        }
                    }
                    Some(Sound::Lost) | None => return,
                },
                _ = ticks.tick() => {
                    if own_voice.elapsed() > DEAF_AFTER {
                        return;
                    }
                    // Its failure shows in the breaker, and then in the silence.
                    let _ = redis.publish(&self.channel, &tick).await;
                }
            }
        }
    }

    /// See to it that the others know, and forget once more what they said before they did.
    async fn bear(&self, silence: &mut Silence) {
        if silence.told.is_none_or(|at| at.elapsed() >= TICK) {
            let deaf = Message::Deaf.write(&self.instance);
            let told = timeout(AGAIN, self.store.notify(STORE_CHANNEL, &deaf)).await;
            silence.told = matches!(told, Ok(Ok(()))).then(Instant::now);
        }
        if silence.since.is_some_and(|at| at.elapsed() >= KNOWN_AFTER) {
            silence.since = None;
            self.gap.notify_one();
        }
    }

    async fn hear_store(
        &self,
        ears: &mut Listening,
        heard: &Heard,
    ) -> Result<std::convert::Infallible, Error> {
        loop {
            let text = ears.next().await?;
            self.pass_on(&text, heard).await;
        }
    }

    /// Act on a message; whether it was this instance's own.
    async fn pass_on(&self, text: &str, heard: &Heard) -> bool {
        let arrived = Message::read(text);
        self.peers.heard(&arrived.from);
        if arrived.from == self.instance {
            return true;
        }
        match arrived.message {
            Message::Tick => {}
            Message::Deaf => self.peers.somebody_is_deaf(),
            message => {
                // Nobody is there to act on it only at the end.
                let _ = heard.send(message).await;
            }
        }
        false
    }
}
