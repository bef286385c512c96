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
    /// Close if no request is under way, to make room for another client; else refuse the order.
    Evict,
}

const ORDERS: [CloseOrder; 5] =
    [CloseOrder::Serve, CloseOrder::Expire, CloseOrder::Drain, CloseOrder::Cut, CloseOrder::Evict];
const STAGES: [ReadStage; 5] =
    [ReadStage::Between, ReadStage::Head, ReadStage::Body, ReadStage::Opaque, ReadStage::Refused];

/// All values are relaxed, since none depends on another. Only [`ConnectionState::evict`] is called by
/// other threads than the connection's own.
#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    calls: AtomicU32,
    written: AtomicU64,
    stage: AtomicU8,
    order: AtomicU8,
    blocked: AtomicBool,
    /// 0 when the connection is not lingering; else the bytes read while lingering, plus one.
    lingering: AtomicU64,
    /// Requests whose answers are not complete yet.
    in_flight: AtomicU32,
    /// The connection is being shut down.
    closing: AtomicBool,
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

    /// A request begins. Its answer must call [`ConnectionState::end_request`] when it is complete.
    pub(super) fn begin_request(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    pub(super) fn end_request(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    pub(super) fn in_flight(&self) -> bool {
        self.in_flight.load(Relaxed) > 0
    }

    pub(super) fn set_closing(&self) {
        self.closing.store(true, Relaxed);
    }

    /// Between two requests: all that was asked is answered and sent, and nothing of the next one was
    /// read.
    pub(super) fn is_between(&self) -> bool {
        self.stage() == ReadStage::Between
            && !self.in_flight()
            && !self.blocked()
            && !self.closing.load(Relaxed)
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
        self.order.store(number(order), Relaxed);
        self.waker.wake();
        true
    }

    /// Order the connection to make room, unless it has another order. Returns whether it is ordered.
    pub(super) fn evict(&self) -> bool {
        let ordered = self.replace(CloseOrder::Serve, CloseOrder::Evict);
        if ordered {
            self.waker.wake();
        }
        ordered
    }

    /// A request is under way: go on serving, unless another order came.
    pub(super) fn refuse_eviction(&self) {
        self.replace(CloseOrder::Evict, CloseOrder::Serve);
    }

    fn replace(&self, order: CloseOrder, by: CloseOrder) -> bool {
        self.order.compare_exchange(number(order), number(by), Relaxed, Relaxed).is_ok()
    }

    pub(super) fn order(&self) -> CloseOrder {
        ORDERS.get(usize::from(self.order.load(Relaxed))).copied().unwrap_or(CloseOrder::Serve)
    }
}

fn number(order: CloseOrder) -> u8 {
    let at = ORDERS.iter().position(|one| *one == order).unwrap_or_default();
    u8::try_from(at).unwrap_or_default()
}
