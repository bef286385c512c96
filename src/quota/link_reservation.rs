//! The hits that this instance has reserved of one link, with the state of the task that renews the
//! reservation. The rules are in [`kurz_core::quota::Reservation`]; this adds what is async.

use std::sync::atomic::AtomicBool;

use kurz_core::link::{LinkId, Month};
use kurz_core::quota::Reservation;
use tokio::sync::Notify;

/// A reservation that redirects can wait for.
#[derive(Debug)]
pub struct LinkReservation {
    pub(super) reservation: Reservation,
    /// Whether a task is sending requests for it, or is queued to do so.
    pub(super) busy: AtomicBool,
    /// Whether [`super::SharedQuota`] sweeps it.
    pub(super) active: AtomicBool,
    /// Whether waiting longer is worthwhile: the store is being read, or other instances were asked to give
    /// back their hits.
    pub(super) may_wait_longer: AtomicBool,
    /// Notified after each reply.
    pub(super) done: Notify,
}

impl LinkReservation {
    /// Nothing is reserved of `link` yet, which had `hits` in `month` according to the store.
    pub(super) fn new(link: LinkId, month: Month, hits: u64) -> Self {
        Self {
            reservation: Reservation::new(link, month, hits),
            busy: AtomicBool::new(false),
            active: AtomicBool::new(false),
            may_wait_longer: AtomicBool::new(false),
            done: Notify::new(),
        }
    }
}
