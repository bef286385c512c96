//! A throttle for requests that are over a rate limit but must be served all the same, because only
//! the store can tell whether they are legitimate: a few at a time, with a pause after each.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::sleep;

const CONCURRENT: usize = 2;
/// With two at a time this allows at most 2,000 a second, so that a flood takes neither the store
/// nor the processor from others.
const PAUSE: Duration = Duration::from_millis(1);

/// Serves a few callers at a time.
#[derive(Debug)]
pub struct Throttle(Semaphore);

impl Default for Throttle {
    fn default() -> Self {
        Self(Semaphore::new(CONCURRENT))
    }
}

impl Throttle {
    /// Run `task` when a permit is free.
    pub async fn run<T>(&self, task: impl Future<Output = T>) -> T {
        let _permit = self.0.acquire().await;
        let done = task.await;
        sleep(PAUSE).await;
        done
    }
}
