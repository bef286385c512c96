//! The hits of one link in one month that were granted to an instance and are not used yet. A
//! redirect takes one without a lock. This decides which requests are made and what a reply means;
//! sending them is done elsewhere.
//!
//! Invariants: a hit is taken only from what was granted, for the month and the limit it was granted
//! for. Hits that a request gives back are no longer held, whether or not its reply arrives.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::link::{LinkId, Month};
use crate::quota::grant::{GrantReply, GrantRequest};

/// Bits of the hits; the month has the other 16.
const HIT_BITS: u32 = 48;
const HIT_MASK: u64 = (1 << HIT_BITS) - 1;
/// How much of the link's traffic to reserve in advance, in seconds, once other instances wanted its hits.
const AHEAD_SECONDS: u64 = 60;
/// The shortest interval over which a rate is measured.
const SHORTEST_MS: i64 = 100;
/// More hits are requested when at most one in so many is left of those held after the last reply.
const LOW: u64 = 4;
/// How long the limit is assumed to be used up once nobody holds unused hits.
const OVER_MS: i64 = 1_000;
/// A limit that no link has.
const NO_LIMIT: u64 = u64::MAX;

/// The result of taking a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    Taken,
    /// It is taken, and more should be requested.
    TakenLast,
    /// None is held: send a request.
    Ask,
    Over,
}

/// What to do after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    Done,
    /// Send a new request: a later month has begun.
    Again,
    /// Nothing is left, but instances that run may hold unused hits: recall them, and ask again.
    Contested,
    /// Nothing is left, and nobody that runs holds any. `stale`: hits are still reserved, by clicks that are
    /// not counted yet or by an instance that is gone. Recall them, so that the next request can tell.
    Over {
        stale: bool,
    },
}

/// The hits of a link that an instance holds.
#[derive(Debug)]
pub struct Reservation {
    link: LinkId,
    /// The month and the hits held, packed.
    held: AtomicU64,
    /// The limit under which they were granted.
    limit: AtomicU64,
    /// The limit of the latest visitor that had to wait.
    asked_limit: AtomicU64,
    /// More should be requested when at most so many are left.
    low: AtomicU64,
    /// Until when the limit is known to be used up.
    over_until: AtomicI64,
    waiting: AtomicU32,
    /// Whether all hits should be given back.
    recalled: AtomicBool,
    state: Mutex<ReservationState>,
}

#[derive(Debug, Default)]
struct ReservationState {
    /// Hits held after the last reply: those missing now have been served.
    base: u64,
    /// Hits a second.
    rate: u64,
    asked_at: i64,
    /// The month in which other instances wanted the hits: reserve no more than is used soon.
    wanted_in: Option<Month>,
}

impl Reservation {
    /// Nothing is held of `link`.
    pub fn new(link: LinkId) -> Self {
        Self {
            link,
            held: AtomicU64::new(0),
            limit: AtomicU64::new(NO_LIMIT),
            asked_limit: AtomicU64::new(NO_LIMIT),
            low: AtomicU64::new(0),
            over_until: AtomicI64::new(i64::MIN),
            waiting: AtomicU32::new(0),
            recalled: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// The link whose hits these are.
    #[inline]
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// Take one hit of `month` under `limit`; `at` is the time in milliseconds.
    #[inline]
    pub fn take(&self, month: Month, limit: u64, at: i64) -> Take {
        if self.limit.load(Ordering::Acquire) == limit {
            let one = |word| {
                let (held_month, hits) = unpack(word);
                (held_month == month && hits > 0).then(|| pack(month, hits - 1))
            };
            if let Ok(word) = self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, one) {
                let (_, hits) = unpack(word);
                let low = hits <= self.low.load(Ordering::Relaxed);
                return if low { Take::TakenLast } else { Take::Taken };
            }
            if at < self.over_until.load(Ordering::Acquire) {
                return Take::Over;
            }
        }
        Take::Ask
    }

    /// Give back a hit of `month` that was taken and not used.
    pub fn put_back(&self, month: Month) {
        self.add(month, 1);
    }

    /// Whether a hit could be taken; `None` when a request is needed to know.
    #[inline]
    pub fn has_room(&self, month: Month, limit: u64, at: i64) -> Option<bool> {
        if self.limit.load(Ordering::Acquire) != limit {
            return None;
        }
        let (held_month, hits) = unpack(self.held.load(Ordering::Acquire));
        if held_month == month && hits > 0 {
            return Some(true);
        }
        (at < self.over_until.load(Ordering::Acquire)).then_some(false)
    }

    /// Count one visitor as waiting for a hit under `limit` until the guard is dropped.
    pub fn wait(&self, limit: u64) -> WaitGuard<'_> {
        self.asked_limit.store(limit, Ordering::Release);
        self.waiting.fetch_add(1, Ordering::AcqRel);
        WaitGuard(self)
    }

    /// Give all hits back with the next request.
    pub fn recall(&self) {
        self.recalled.store(true, Ordering::Release);
    }

    /// Whether all hits are to be given back with the next request.
    pub fn is_recalled(&self) -> bool {
        self.recalled.load(Ordering::Acquire)
    }

    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Acquire).into()
    }

    /// Whether visitors wait that can be neither served nor refused.
    pub fn is_wanting(&self, at: i64) -> bool {
        let limit = self.limit.load(Ordering::Acquire);
        let other = limit != self.asked_limit.load(Ordering::Acquire);
        let over = at < self.over_until.load(Ordering::Acquire);
        self.waiting() > 0 && (other || (self.hits() == 0 && !over))
    }

    /// Assume the limit of `month` to be used up until `until`.
    pub fn close(&self, month: Month, until: i64) {
        self.over_until.store(until.min(month.end().as_ms()), Ordering::Release);
    }

    /// The hits held.
    pub fn hits(&self) -> u64 {
        unpack(self.held.load(Ordering::Acquire)).1
    }

    /// Drop what is held: it was granted anew to others.
    pub fn clear(&self) {
        let (month, _) = unpack(self.held.load(Ordering::Acquire));
        self.take_all(month);
    }

    /// The request to send in `month` at `at`.
    pub fn request(&self, month: Month, at: i64) -> GrantRequest {
        let mut state = self.state();
        let limit = self.asked_limit.load(Ordering::Acquire);
        let recalled = self.recalled.swap(false, Ordering::AcqRel);
        let need = self.waiting();
        if unpack(self.held.load(Ordering::Acquire)).0 != month {
            // Hits of another month cannot be used in this one.
            self.take_all(month);
            self.over_until.store(i64::MIN, Ordering::Release);
            state.base = 0;
        }
        let held_before = self.hits();
        let used = state.base.saturating_sub(held_before);
        state.measure(used.max(need), at);
        let is_other_limit = self.limit.load(Ordering::Acquire) != limit;
        let back = (recalled || is_other_limit).then(|| self.take_all(month));
        if recalled {
            state.wanted_in = Some(month);
        }
        let held = self.hits();
        state.base = held;
        let want = match state.wanted_in {
            Some(wanted) if wanted == month => state.rate.saturating_mul(AHEAD_SECONDS),
            _ => u64::MAX,
        };
        // What was recalled is wanted elsewhere.
        let want = if recalled { 0 } else { want.saturating_sub(held) };
        GrantRequest { link: self.link, month, limit, back, need, want }
    }

    /// Apply the reply to `request`; `None` when a later month has begun.
    pub fn settle(&self, request: &GrantRequest, reply: Option<&GrantReply>, at: i64) -> NextStep {
        let mut state = self.state();
        let Some(reply) = reply else { return NextStep::Again };
        self.add(request.month, reply.granted);
        state.base += reply.granted;
        self.limit.store(request.limit, Ordering::Release);
        self.low.store(self.hits() / LOW, Ordering::Release);
        if reply.granted > 0 {
            self.over_until.store(i64::MIN, Ordering::Release);
        }
        if reply.left > 0 || self.hits() > 0 {
            return NextStep::Done;
        }
        if reply.others_hold {
            return NextStep::Contested;
        }
        self.close(request.month, at + OVER_MS);
        NextStep::Over { stale: reply.reserved > 0 }
    }

    /// Remove all hits; how many were held.
    fn take_all(&self, month: Month) -> u64 {
        unpack(self.held.swap(pack(month, 0), Ordering::AcqRel)).1
    }

    fn add(&self, month: Month, hits: u64) {
        let more = |word| {
            let (held_month, held) = unpack(word);
            (held_month == month).then(|| pack(month, held + hits))
        };
        // An error means that another month is held by now, in which these hits cannot be used.
        let _ = self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
    }

    fn state(&self) -> MutexGuard<'_, ReservationState> {
        // No method panics between two changes of the state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReservationState {
    /// Update the rate from `used` hits since the last request.
    fn measure(&mut self, used: u64, at: i64) {
        let elapsed = u64::try_from((at - self.asked_at).max(SHORTEST_MS)).unwrap_or(1);
        let rate = if self.asked_at == 0 { 0 } else { used.saturating_mul(1000) / elapsed };
        // It rises at once and falls by a quarter with each request.
        self.rate = rate.max(self.rate - self.rate.div_ceil(4));
        self.asked_at = at;
    }
}

/// Counts as a waiting visitor while it exists.
#[derive(Debug)]
pub struct WaitGuard<'a>(&'a Reservation);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[inline]
fn pack(month: Month, hits: u64) -> u64 {
    let month = u64::try_from(month.number()).unwrap_or_default();
    (month << HIT_BITS) | hits.min(HIT_MASK)
}

#[inline]
fn unpack(word: u64) -> (Month, u64) {
    let month = i64::try_from(word >> HIT_BITS).unwrap_or_default();
    (Month::from_number(month), word & HIT_MASK)
}
