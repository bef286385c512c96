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
    /// Whether the last request got no reply.
    pub(super) failed: AtomicBool,
    /// Notified after each request.
    pub(super) done: Notify,
}

impl LinkReservation {
    /// Nothing is reserved of `link` yet.
    pub(super) fn new(link: LinkId) -> Self {
        Self {
            reservation: Reservation::new(link),
            busy: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            done: Notify::new(),
        }
    }

    /// Give back a hit that was taken: its visitor is not sent on.
    pub(crate) fn put_back(&self, month: Month) {
        self.reservation.put_back(month);
    }
}
