//! The click queue of one worker. Only that worker pushes, so its lock is nearly always free: the
//! writer takes everything a few times a second, by swapping one list for another.

use std::mem;

use crate::clicks::Click;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// The most clicks in a queue: 1.5 MiB.
pub const CAPACITY: usize = 1 << 16;

/// A bounded list of clicks that are not collected yet.
#[derive(Debug, Default)]
pub struct ClickQueue(Mutex<Vec<Click>>);

impl ClickQueue {
    /// Add a click; `false` when the queue is full.
    #[inline]
    pub fn push(&self, click: Click) -> bool {
        let mut clicks = self.lock();
        let has_room = clicks.len() < CAPACITY;
        if has_room {
            clicks.push(click);
        }
        has_room
    }

    /// Take all clicks and leave the empty list `empty` in their place.
    pub fn exchange(&self, empty: &mut Vec<Click>) {
        mem::swap(&mut *self.lock(), empty);
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Vec<Click>> {
        // Every operation leaves the list consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
