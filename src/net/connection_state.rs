//! The state of a connection: what its socket and its service tell the timeouts, and what the timeouts
//! orders. Not the judgement, which is `timeouts`. Invariant: the path of a request only stores plain
//! values here; it takes no lock, reads no clock and sets no timer.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::task::Waker;

use futures_util::task::AtomicWaker;

/// Where the bytes that came in leave the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadStage {
    /// Between requests: no byte of the next head is here.
    Between,
    /// In a head.
    Head,
    /// In a body whose end is known.
    Body,
    /// In what only hyper can read: HTTP/2, or a chunked body.
    Opaque,
    /// Behind a malformed head. Nothing more is read.
    Refused,
}

/// What the timeouts wants of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseOrder {
    /// Go on.
    Serve,
    /// The head did not come in time: answer 408 where one began, and close.
    Expire,
    /// Finish what is in flight, then close.
    Drain,
    /// Close now.
    Cut,
}

const ORDERS: [CloseOrder; 4] =
    [CloseOrder::Serve, CloseOrder::Expire, CloseOrder::Drain, CloseOrder::Cut];
const STAGES: [ReadStage; 5] =
    [ReadStage::Between, ReadStage::Head, ReadStage::Body, ReadStage::Opaque, ReadStage::Refused];

/// Shared between a connection's task and its worker's timeouts: the same thread, but tasks must be
/// `Send`, hence atomics. All are relaxed: each value stands for itself.
#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    calls: AtomicU32,
    written: AtomicU64,
    stage: AtomicU8,
    order: AtomicU8,
    blocked: AtomicBool,
    /// 0: not at all; else one more than the bytes that were read for it.
    lingering: AtomicU64,
    done: AtomicBool,
    waker: AtomicWaker,
}

impl ConnectionState {
    /// A request reached the service. Only the connection's task calls this, so that the count
    /// needs no read-modify-write.
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

    /// The connection is only read from, so that its client sees the answer: so many bytes so far.
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

    /// Whom to wake for the next order. Once for each: an order takes the waker with it, and the
    /// waker of a task stays the same between them.
    pub(super) fn heed(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Give an order, and wake the task to follow it. The same order again is none: the task would
    /// not see that its waker was taken. Whether it was one.
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
