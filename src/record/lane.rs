//! Where one worker leaves its clicks. Only that worker pushes, so its lock is nearly always free:
//! the writer takes all that gathered a few times a second, by exchanging one list for another.

use std::mem;

use crate::record::Click;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Clicks that may wait in one lane: 1.5 MiB, half a second of all that a core can answer.
pub(super) const ROOM: usize = 1 << 16;

/// The clicks of one worker.
#[derive(Debug, Default)]
pub struct Lane(Mutex<Vec<Click>>);

impl Lane {
    /// Leave a click; `false` when there is no room for it.
    pub(super) fn push(&self, click: Click) -> bool {
        let mut clicks = self.lock();
        let has_room = clicks.len() < ROOM;
        if has_room {
            clicks.push(click);
        }
        has_room
    }

    /// Exchange what gathered for an empty list.
    pub(super) fn exchange(&self, empty: &mut Vec<Click>) {
        mem::swap(&mut *self.lock(), empty);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Click>> {
        // A list of plain values is whole after every operation.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
