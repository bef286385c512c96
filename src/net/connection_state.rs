//! The state of a connection, shared between its task and `timeouts`: the task reports progress,
//! `timeouts` decides and orders.
//!
//! Invariant: handling a request only stores plain values here; it takes no lock, reads no clock and
//! sets no timer.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::Waker;

use futures_util::task::AtomicWaker;

/// What the bytes read so far are part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadStage {
    /// Between requests: no byte of the next head is here.
    Between,
    Head,
    /// Inside a body of known length.
    Body,
    /// HTTP/2 or a chunked body, whose framing only hyper follows.
    Opaque,
    /// After a malformed head; nothing more is parsed.
    Refused,
}

/// What `timeouts` orders a connection to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseOrder {
    Serve,
    /// The head did not arrive in time: answer 408 if one began, and close.
    Expire,
    /// Finish what is in flight, then close.
    Drain,
    Cut,
}

const ORDERS: [CloseOrder; 4] =
    [CloseOrder::Serve, CloseOrder::Expire, CloseOrder::Drain, CloseOrder::Cut];
const STAGES: [ReadStage; 5] =
    [ReadStage::Between, ReadStage::Head, ReadStage::Body, ReadStage::Opaque, ReadStage::Refused];

/// Both sides run on the same thread, but tasks must be `Send`, hence atomics. All are relaxed, since
/// no value depends on another.
#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    calls: AtomicU32,
    written: AtomicU64,
    stage: AtomicU8,
    order: AtomicU8,
    blocked: AtomicBool,
    /// 0 when the connection is not lingering; else the bytes read while lingering, plus one.
    lingering: AtomicU64,
    done: AtomicBool,
    waker: AtomicWaker,
}

impl ConnectionState {
    /// Only the connection's task calls this, so the count needs no read-modify-write.
    pub(super) fn count_call(&self) {
        self.calls.store(self.calls.load(Relaxed).wrapping_add(1), Relaxed);
    }

    pub(super) fn calls(&self) -> u32 {
        self.calls.load(Relaxed)
    }

    pub(super) fn set_written(&self, bytes: u64) {
        self.written.store(bytes, Relaxed);
    }

    pub(super) fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    pub(super) fn set_stage(&self, stage: ReadStage) {
        let at = STAGES.iter().position(|one| *one == stage).unwrap_or_default();
        self.stage.store(u8::try_from(at).unwrap_or_default(), Relaxed);
    }

    pub(super) fn stage(&self) -> ReadStage {
        let at = usize::from(self.stage.load(Relaxed));
        STAGES.get(at).copied().unwrap_or(ReadStage::Between)
    }

    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Relaxed);
    }

    pub(super) fn blocked(&self) -> bool {
        self.blocked.load(Relaxed)
    }

    /// The connection lingers: it is read and discarded until the client has seen the answer.
    pub(super) fn set_lingering(&self, bytes: u64) {
        self.lingering.store(bytes.saturating_add(1), Relaxed);
    }

    pub(super) fn lingering(&self) -> Option<u64> {
        self.lingering.load(Relaxed).checked_sub(1)
    }

    pub(super) fn set_done(&self) {
        self.done.store(true, Relaxed);
    }

    pub(super) fn done(&self) -> bool {
        self.done.load(Relaxed)
    }

    /// Register the waker for the next order. Once per order: giving one takes the waker, and a
    /// task's waker stays the same in between.
    pub(super) fn heed(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Give an order and wake the task. Repeating the current order does nothing, since the task would
    /// not register its waker again. Returns whether the order was new.
    pub(super) fn give(&self, order: CloseOrder) -> bool {
        if order == self.order() {
            return false;
        }
        let at = ORDERS.iter().position(|one| *one == order).unwrap_or_default();
        self.order.store(u8::try_from(at).unwrap_or_default(), Relaxed);
        self.waker.wake();
        true
    }

    pub(super) fn order(&self) -> CloseOrder {
        ORDERS.get(usize::from(self.order.load(Relaxed))).copied().unwrap_or(CloseOrder::Serve)
    }
}
