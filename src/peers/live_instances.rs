//! The instances that are alive: those heard from lately, and those that have no subscription to Redis.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long an instance is counted after its last message.
const GONE_AFTER: Duration = Duration::from_secs(5);
/// How long an instance that reported a lost subscription is treated as unsubscribed.
const UNSUBSCRIBED_FOR: Duration = Duration::from_secs(3);
const MOST: usize = 10_000;

/// The instances that were heard from.
#[derive(Debug)]
pub(super) struct LiveInstances {
    received: Mutex<HashMap<String, Instant>>,
    count: AtomicU64,
    unsubscribed: Mutex<Option<Instant>>,
}

impl Default for LiveInstances {
    fn default() -> Self {
        let (received, unsubscribed) = (Mutex::default(), Mutex::default());
        Self { received, count: AtomicU64::new(1), unsubscribed }
    }
}

impl LiveInstances {
    /// `name` is alive. Drops those that were not heard from lately.
    pub(super) fn received(&self, name: &str) {
        let mut received = lock(&self.received);
        let now = Instant::now();
        received.retain(|_, at| now.duration_since(*at) < GONE_AFTER);
        if received.len() < MOST && !name.is_empty() {
            received.insert(name.to_owned(), now);
        }
        let count = u64::try_from(received.len()).unwrap_or(u64::MAX);
        self.count.store(count.max(1), Ordering::Release);
    }

    /// How many there are, this one included.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// An instance has no subscription to Redis.
    pub(super) fn note_unsubscribed(&self) {
        *lock(&self.unsubscribed) = Some(Instant::now());
    }

    /// Whether an instance reported that lately.
    pub(super) fn has_unsubscribed(&self) -> bool {
        lock(&self.unsubscribed).is_some_and(|at| at.elapsed() < UNSUBSCRIBED_FOR)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn those_that_fall_silent_are_no_longer_counted() {
        let live = LiveInstances::default();
        assert_eq!(live.count(), 1, "this one");
        for name in ["a", "b", "c", "a"] {
            live.received(name);
        }
        assert_eq!(live.count(), 3);
        tokio::time::advance(Duration::from_secs(4)).await;
        live.received("a");
        assert_eq!(live.count(), 3);
        tokio::time::advance(Duration::from_secs(2)).await;
        live.received("a");
        assert_eq!(live.count(), 1);
        live.note_unsubscribed();
        assert!(live.has_unsubscribed());
        tokio::time::advance(UNSUBSCRIBED_FOR).await;
        assert!(!live.has_unsubscribed());
    }
}
