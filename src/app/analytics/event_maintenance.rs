//! What one instance at a time does for the events of all: rows that were left in the log, small blocks, tasks,
//! and days whose time is over.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};
use crate::store::{EventSizes, HeldLock};

const LOCK: &str = "events";
const LOCK_AT_MOST: Duration = Duration::from_mins(10);

impl App {
    /// Look after the events in the store, unless another instance does or did so less than `at_least` ago;
    /// whether it was done.
    pub async fn maintain_events(
        &self,
        at_least: Duration,
        stop: &CancellationToken,
    ) -> Result<bool, AppError> {
        let store = &self.parts.store;
        let now = self.parts.clock.now();
        let instance = self.parts.peers.instance();
        let Some(holding) = store.take_lock(LOCK, instance, LOCK_AT_MOST, now).await? else {
            return Ok(false);
        };
        let done = self.maintain_under(&holding, stop).await;
        // Also after a failure, so that the next one need not wait for the end of the lock.
        let now = self.parts.clock.now();
        let released = store.release_lock(&holding, at_least, now).await;
        done?;
        released?;
        Ok(true)
    }

    async fn maintain_under(
        &self,
        holding: &HeldLock,
        stop: &CancellationToken,
    ) -> Result<(), AppError> {
        self.cut_left_events().await?;
        self.do_event_tasks(holding, stop).await?;
        self.retire_events(holding, stop).await?;
        self.merge_events(holding, stop).await
    }

    /// Whether the store has no room for events, so that clicks are only counted.
    pub fn is_without_room_for_events(&self) -> bool {
        self.parts.clicks.is_without_room()
    }

    /// Whether the operator's geo file is so old that somebody should fetch a newer one.
    pub fn has_old_geo_file(&self) -> bool {
        self.parts.geo_file.as_ref().is_some_and(|file| file.is_old(self.now()))
    }

    /// How much room events take.
    pub async fn event_sizes(&self) -> Result<EventSizes, AppError> {
        Ok(self.parts.store.event_sizes().await?)
    }
}
