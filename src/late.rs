//! Turns for those who are over a limit and must be served all the same, since only the store can tell
//! whether what they ask for is good: few at a time, so that it answers others first.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::sleep;

/// How many have their turn at the same time.
const AT_ONCE: usize = 2;
/// How long each holds up the next: so they are at most 2,000 a second for all together, and a flood at
/// full speed takes neither the store nor the processor from others.
const PAUSE: Duration = Duration::from_millis(1);

/// The turns.
#[derive(Debug)]
pub struct Late(Semaphore);

impl Default for Late {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

impl Late {
    /// Do this when its turn has come.
    pub async fn serve<T>(&self, look: impl Future<Output = T>) -> T {
        let _turn = self.0.acquire().await;
        let found = look.await;
        sleep(PAUSE).await;
        found
    }
}
