//! Whether the store has room for events. Links and counts come first: events stop before the disk is full, and
//! for a while after the store said that it is.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::Store;

/// How often it is looked at the disk.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long no events are written after the store was full.
const AFTER_FULL: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
pub(super) struct EventRoom {
    looked_at: Option<Instant>,
    full_until: Option<Instant>,
}

impl EventRoom {
    /// Whether no events are to be written now.
    pub(super) fn is_full(&mut self, store: &Store) -> bool {
        let now = Instant::now();
        if self.looked_at.is_none_or(|at| now - at >= LOOK_EVERY) {
            self.looked_at = Some(now);
            if !store.has_room_for_events() {
                let until = now + 2 * LOOK_EVERY;
                self.full_until = Some(self.full_until.map_or(until, |before| before.max(until)));
            }
        }
        self.full_until.is_some_and(|until| now < until)
    }

    /// The store refused a write because it is full.
    pub(super) fn was_full(&mut self) {
        self.full_until = Some(Instant::now() + AFTER_FULL);
    }
}
