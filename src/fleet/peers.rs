//! Who is there: those that were heard lately, and those among them that cannot hear Redis.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long somebody who is not heard is still counted.
const GONE_AFTER: Duration = Duration::from_secs(5);
/// How long somebody who said so is held to be deaf.
const DEAF_FOR: Duration = Duration::from_secs(3);
/// Most instances to keep apart.
const MOST: usize = 10_000;

/// The instances that were heard.
#[derive(Debug)]
pub(super) struct Peers {
    heard: Mutex<HashMap<String, Instant>>,
    count: AtomicU64,
    deaf: Mutex<Option<Instant>>,
}

impl Default for Peers {
    fn default() -> Self {
        let (heard, deaf) = (Mutex::default(), Mutex::default());
        Self { heard, count: AtomicU64::new(1), deaf }
    }
}

impl Peers {
    /// `name` is there, and so are those that were heard lately.
    pub(super) fn heard(&self, name: &str) {
        let mut heard = lock(&self.heard);
        let now = Instant::now();
        heard.retain(|_, at| now.duration_since(*at) < GONE_AFTER);
        if heard.len() < MOST && !name.is_empty() {
            heard.insert(name.to_owned(), now);
        }
        let count = u64::try_from(heard.len()).unwrap_or(u64::MAX);
        self.count.store(count.max(1), Ordering::Release);
    }

    /// How many there are, this one included.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Somebody cannot hear Redis.
    pub(super) fn somebody_is_deaf(&self) {
        *lock(&self.deaf) = Some(Instant::now());
    }

    /// Whether somebody could not a moment ago.
    pub(super) fn is_somebody_deaf(&self) -> bool {
        lock(&self.deaf).is_some_and(|at| at.elapsed() < DEAF_FOR)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whole after every single operation.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn those_that_fall_silent_are_no_longer_counted() {
        let peers = Peers::default();
        assert_eq!(peers.count(), 1, "this one");
        for name in ["a", "b", "c", "a"] {
            peers.heard(name);
        }
        assert_eq!(peers.count(), 3);
        tokio::time::advance(Duration::from_secs(4)).await;
        peers.heard("a");
        assert_eq!(peers.count(), 3);
        tokio::time::advance(Duration::from_secs(2)).await;
        peers.heard("a");
        assert_eq!(peers.count(), 1);
        peers.somebody_is_deaf();
        assert!(peers.is_somebody_deaf());
        tokio::time::advance(DEAF_FOR).await;
        assert!(!peers.is_somebody_deaf());
    }
}
