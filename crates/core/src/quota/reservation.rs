//! The hits of one link in one month that were granted to an instance and are not used yet. A
//! redirect takes one without a lock. This decides which requests for more hits are made and what a reply means;
//! sending them is done elsewhere.
//!
//! Invariants: a hit is taken only from what was granted, for the month and the limit it was granted
//! for. Hits that a request gives back are no longer held, whether or not its reply arrives.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::link::{LinkId, Month};
use crate::quota::grant::{GrantCount, GrantReply, GrantRequest};

/// Bits of the hits; the month has the other 16.
const HIT_BITS: u32 = 48;
const HIT_MASK: u64 = (1 << HIT_BITS) - 1;
/// How much of the link's traffic to reserve in advance, in seconds: for so long it can be served
/// while Redis is unreachable.
const AHEAD_SECONDS: u64 = 60;
/// The shortest interval over which a rate is measured.
const SHORTEST_MS: i64 = 100;
/// More hits are requested when at most one in so many is left of those held after the last reply.
const LOW: u64 = 4;
/// How long the limit is assumed to be used up once all hits are known to be served.
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
    /// Send the request again with the number of hits in the store.
    Seed,
    /// Send a new request: it was the wrong month.
    Again,
    /// All hits are granted, but some are not used: recall them from the instances that hold them.
    Contested,
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
    /// Hits served without having been granted.
    debt: AtomicU64,
    /// Until when the limit is known to be used up.
    over_until: AtomicI64,
    waiting: AtomicU32,
    /// Whether all hits should be given back.
    recalled: AtomicBool,
    state: Mutex<ReservationState>,
}

#[derive(Debug)]
struct ReservationState {
    month: Month,
    /// Identifies the counter that granted the hits.
    created: i64,
    number: u64,
    /// Hits held after the last request or reply: those missing now have been served.
    base: u64,
    /// The request without a reply.
    pending: Option<GrantRequest>,
    /// Whether that request may have arrived.
    sent: bool,
    /// Hits a second.
    rate: u64,
    asked_at: i64,
    /// When [`Reservation::status`] last saw that hits were used, and the hits held then.
    used_at: i64,
    seen: u64,
    /// Hits of a month in the store when the link was read.
    known: (Month, u64),
}

/// The state of a reservation, by which unused hits are given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationStatus {
    pub held: u64,
    /// Milliseconds since one was used.
    pub idle_ms: i64,
    /// Milliseconds since the last request.
    pub silent_ms: i64,
    pub used: bool,
    /// Whether a request has no reply yet.
    pub unanswered: bool,
}

impl Reservation {
    /// Nothing is held of `link`, which had `hits` in `month` according to the store.
    pub fn new(link: LinkId, month: Month, hits: u64) -> Self {
        let state = ReservationState {
            month,
            created: 0,
            number: 0,
            base: 0,
            pending: None,
            sent: false,
            rate: 0,
            asked_at: 0,
            used_at: 0,
            seen: 0,
            known: (month, hits),
        };
        Self {
            link,
            held: AtomicU64::new(0),
            limit: AtomicU64::new(NO_LIMIT),
            asked_limit: AtomicU64::new(NO_LIMIT),
            low: AtomicU64::new(0),
            debt: AtomicU64::new(0),
            over_until: AtomicI64::new(i64::MIN),
            waiting: AtomicU32::new(0),
            recalled: AtomicBool::new(false),
            state: Mutex::new(state),
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

    /// One hit was served that was not granted.
    pub fn add_debt(&self) {
        self.debt.fetch_add(1, Ordering::AcqRel);
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
        let (_, hits) = unpack(self.held.load(Ordering::Acquire));
        let limit = self.limit.load(Ordering::Acquire);
        let other = limit != self.asked_limit.load(Ordering::Acquire);
        let over = at < self.over_until.load(Ordering::Acquire);
        self.waiting() > 0 && (other || (hits == 0 && !over))
    }

    /// Assume the limit of `month` to be used up until `until`.
    pub fn close(&self, month: Month, until: i64) {
        self.over_until.store(until.min(month.end().as_ms()), Ordering::Release);
    }

    /// The hits in the store when the link was read, and those served since then.
    pub fn known(&self, month: Month) -> u64 {
        let known = self.state().known;
        let known = if known.0 == month { known.1 } else { 0 };
        known + self.unreported(month)
    }

    /// Hits served that were not reported to the counter.
    pub fn unreported(&self, month: Month) -> u64 {
        let state = self.state();
        let pending = state.pending.filter(|request| request.month == month);
        let (held_month, held) = unpack(self.held.load(Ordering::Acquire));
        let since = if held_month == month { state.base.saturating_sub(held) } else { 0 };
        since + pending.map_or(0, |request| request.used + request.debt)
    }

    /// The state at `at`.
    pub fn status(&self, at: i64) -> ReservationStatus {
        let mut state = self.state();
        let held = self.hits();
        if held != state.seen {
            (state.seen, state.used_at) = (held, at);
        }
        ReservationStatus {
            held,
            idle_ms: at - state.used_at,
            silent_ms: at - state.asked_at,
            used: held < state.base,
            unanswered: state.pending.is_some(),
        }
    }

    /// The request to send in `month` at `at`. A request without a reply is sent again.
    pub fn request(&self, month: Month, peers: u64, seed: Option<u64>, at: i64) -> GrantRequest {
        let mut state = self.state();
        let limit = self.asked_limit.load(Ordering::Acquire);
        let recalled = self.recalled.swap(false, Ordering::AcqRel);
        let need = self.waiting();
        let refresh = |request: &GrantRequest, rate: u64| GrantRequest {
            limit,
            seed,
            need,
            want: if recalled { 0 } else { rate.saturating_mul(AHEAD_SECONDS) },
            peers,
            ..*request
        };
        if let Some(pending) = state.pending.filter(|pending| pending.month == month) {
            // Hits can be given back only with a new request.
            self.recalled.fetch_or(recalled, Ordering::AcqRel);
            let mut again = refresh(&pending, state.rate);
            if self.debt.load(Ordering::Acquire) > 0 {
                // Hits served without a grant must be counted first, with the next request.
                (again.need, again.want) = (0, 0);
            }
            state.pending = Some(again);
            return again;
        }
        if state.month != month {
            // Hits of another month cannot be used in this one.
            self.held.store(pack(month, 0), Ordering::Release);
            self.over_until.store(i64::MIN, Ordering::Release);
            (state.month, state.created, state.base) = (month, 0, 0);
        }
        let everything = recalled || self.limit.load(Ordering::Acquire) != limit;
        let held = if everything { self.take_all(month) } else { self.hits() };
        let used = state.base.saturating_sub(held);
        let back = if everything { held } else { 0 };
        state.base = held - back;
        state.measure(used.max(need), at);
        state.number += 1;
        state.sent = false;
        let request = GrantRequest {
            number: state.number,
            month,
            limit,
            seed,
            created: state.created,
            used,
            back,
            debt: self.debt.swap(0, Ordering::AcqRel),
            need: 0,
            want: 0,
            peers,
        };
        let mut request = refresh(&request, state.rate);
        request.want = request.want.saturating_sub(held - back);
        state.pending = Some(request);
        request
    }

    /// Apply the reply to `request`.
    pub fn settle(&self, request: &GrantRequest, reply: &GrantReply, at: i64) -> NextStep {
        let mut state = self.state();
        if state.pending.is_none_or(|pending| pending.number != request.number) {
            return NextStep::Done;
        }
        let counted = match reply {
            GrantReply::NoCounter { .. } => return NextStep::Seed,
            GrantReply::OtherMonth { .. } => {
                state.pending = None;
                return NextStep::Again;
            }
            GrantReply::Counted(counted) => counted,
        };
        state.pending = None;
        // Hits served without a grant are deducted first: they are reported as used with the next request.
        let paid = self.debt.load(Ordering::Acquire).min(counted.grant);
        self.debt.fetch_sub(paid, Ordering::AcqRel);
        let renewed = state.created != 0 && state.created != counted.created;
        state.created = counted.created;
        if renewed {
            // A new counter, which does not include the hits granted by the previous one.
            self.held.store(pack(request.month, counted.grant - paid), Ordering::Release);
            state.base = counted.grant;
        } else {
            self.add(request.month, counted.grant - paid);
            state.base += counted.grant;
        }
        self.limit.store(request.limit, Ordering::Release);
        self.low.store(self.hits() / LOW, Ordering::Release);
        if counted.grant > 0 {
            self.over_until.store(i64::MIN, Ordering::Release);
        }
        self.next_step(counted, request.month, at)
    }

    /// The request is about to be sent.
    pub fn sending(&self) {
        self.state().sent = true;
    }

    /// `request` could not be sent this time. If it was never sent, the hits it would have given back are held
    /// again; otherwise it stays pending.
    pub fn unsent(&self, request: &GrantRequest) {
        let mut state = self.state();
        let is_pending = state.pending.is_some_and(|pending| pending.number == request.number);
        if is_pending && !state.sent {
            state.pending = None;
            self.add(request.month, request.back);
            state.base += request.back + request.used;
            self.debt.fetch_add(request.debt, Ordering::AcqRel);
        }
    }

    fn next_step(&self, counted: &GrantCount, month: Month, at: i64) -> NextStep {
        if counted.left > 0 || self.hits() > 0 {
            NextStep::Done
        } else if counted.used >= counted.granted {
            self.close(month, at + OVER_MS);
            NextStep::Done
        } else {
            NextStep::Contested
        }
    }

    fn hits(&self) -> u64 {
        unpack(self.held.load(Ordering::Acquire)).1
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
