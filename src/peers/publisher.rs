//! Publishes queued messages, with many keys in one. Over Redis; over the store when there is no Redis,
//! when Redis fails, or when an instance has no subscription to it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::peers::{Message, Peers, STORE_CHANNEL};
use crate::store::MOST_BYTES;

/// Messages taken from the queue at once.
const AT_ONCE: usize = 1024;
/// Most bytes of keys in one message; PostgreSQL limits a notification to 8,000 bytes with its envelope.
const KEY_BYTES: usize = MOST_BYTES - 1_000;
/// With more messages of keys than this, everything is invalidated instead.
const MOST_MESSAGES: usize = 32;
/// The delay before a retry on the store.
const RETRY_AFTER: Duration = Duration::from_millis(500);
/// How long publishing may take at shutdown.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Publish until `stop`, then publish what is left.
pub(super) async fn run(
    peers: Arc<Peers>,
    mut waiting: mpsc::Receiver<Message>,
    stop: CancellationToken,
) {
    let mut batch = Vec::with_capacity(AT_ONCE);
    while stop.run_until_cancelled(waiting.recv_many(&mut batch, AT_ONCE)).await.is_some() {
        let said = peers.say_all(&mut batch);
        if stop.run_until_cancelled(said).await.is_none() {
            break;
        }
    }
    let last_words = async {
        loop {
            while let Ok(message) = waiting.try_recv() {
                batch.push(message);
            }
            if batch.is_empty() {
                break;
            }
            peers.say_all(&mut batch).await;
        }
    };
    if timeout(LAST_WORDS, last_words).await.is_err() {
        tracing::warn!("the other instances could not be told of the last changes");
    }
}

impl Peers {
    /// Publish `batch`; what fails becomes "everything" and is retried.
    async fn say_all(&self, batch: &mut Vec<Message>) {
        if self.overflowed.swap(false, Ordering::AcqRel) {
            batch.push(Message::InvalidateAll);
        }
        for message in gather(batch) {
            if self.send(&message).await {
                continue;
            }
            // Instances that lost the store as well invalidate everything when it is back; the others
            // are told to, which covers the rest of the batch.
            loop {
                sleep(RETRY_AFTER).await;
                if self.send(&Message::InvalidateAll).await {
                    break;
                }
            }
            break;
        }
        batch.clear();
    }

    /// Send a message; whether Redis or the store took it.
    pub(super) async fn send(&self, message: &Message) -> bool {
        let text = message.write(&self.instance);
        let said = match &self.redis {
            Some(redis) => redis.publish(&self.channel, &text).await.is_ok(),
            None => false,
        };
        if said && !self.live.has_unsubscribed() {
            return true;
        }
        self.store.notify(STORE_CHANNEL, &text).await.is_ok() || said
    }
}

/// Merge messages: keys together, no duplicates, and only "everything" where it covers the rest.
fn gather(batch: &[Message]) -> Vec<Message> {
    let mut said: Vec<Message> = Vec::new();
    let mut keys: Vec<Vec<String>> = vec![Vec::new()];
    let mut bytes = 0;
    for message in batch {
        let Message::Invalidate(more) = message else {
            if !said.contains(message) {
                said.push(message.clone());
            }
            continue;
        };
        for key in more {
            bytes += key.len() + 3;
            if bytes > KEY_BYTES {
                keys.push(Vec::new());
                bytes = key.len() + 3;
            }
            if let Some(last) = keys.last_mut() {
                last.push(key.clone());
            }
        }
    }
    if keys.len() > MOST_MESSAGES && !said.contains(&Message::InvalidateAll) {
        said.push(Message::InvalidateAll);
    }
    if !said.contains(&Message::InvalidateAll) {
        said.extend(keys.into_iter().filter(|keys| !keys.is_empty()).map(Message::Invalidate));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forget(keys: &[&str]) -> Message {
        Message::Invalidate(keys.iter().map(|key| (*key).to_owned()).collect())
    }

    #[test]
    fn keys_travel_together_and_nothing_is_said_twice() {
        let batch = [forget(&["a"]), Message::Hosts, forget(&["b", "c"]), Message::Hosts];
        assert_eq!(gather(&batch), [Message::Hosts, forget(&["a", "b", "c"])]);
        assert_eq!(gather(&[]), []);
    }

    #[test]
    fn no_message_is_longer_than_the_store_carries() {
        let long = "x".repeat(129);
        let batch: Vec<Message> = (0..500).map(|_| forget(&[&long])).collect();
        let said = gather(&batch);
        assert!(said.len() > 10);
        let keys: usize = said
            .iter()
            .map(|message| match message {
                Message::Invalidate(keys) => keys.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(keys, 500);
        for message in said {
            assert!(message.write("4194304-0123456789abcdef").len() < MOST_BYTES);
        }
    }

    #[test]
    fn too_many_keys_and_everything_are_one_message() {
        let long = "x".repeat(129);
        let batch: Vec<Message> = (0..5000).map(|_| forget(&[&long])).collect();
        assert_eq!(gather(&batch), [Message::InvalidateAll]);
        let batch = [forget(&["a"]), Message::InvalidateAll, Message::Recall(3)];
        assert_eq!(gather(&batch), [Message::InvalidateAll, Message::Recall(3)]);
    }
}
