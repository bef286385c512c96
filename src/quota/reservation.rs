//! What one instance holds of a link's month: hits that were granted to it and are not used yet. A
//! redirect takes one without a lock; asking for more and giving back is the quota's. Pure: it waits
//! for nothing and is told the time.
//!
//! Invariant: a hit is taken only out of what was granted, for the month and the limit it was granted
//! for. What was given back is not held, whether or not the answer came.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::link::{LinkId, Month};
use crate::quota::grant::{GrantCount, GrantReply, GrantRequest};

/// Bits of the hits; the month has the other 16.
const HIT_BITS: u32 = 48;
const HIT_MASK: u64 = (1 << HIT_BITS) - 1;
/// How much of the link's traffic to hold in advance, in seconds: what it can go on with when Redis
/// is away.
const AHEAD_SECONDS: u64 = 60;
/// The shortest time to measure a rate over.
const SHORTEST_MS: i64 = 100;
/// A share of what was held after the last answer: when no more is left, more is asked for.
const LOW: u64 = 4;
/// How long the limit is held to be used up once all hits are known to be served.
const OVER_MS: i64 = 1_000;
/// No limit that anybody asked for.
const NO_LIMIT: u64 = u64::MAX;

/// What became of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// It is taken.
    Taken,
    /// It is taken, and more should be asked for.
    TakenLast,
    /// Nothing is held: ask.
    Ask,
    /// The limit is used up.
    Over,
}

/// What to do after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing.
    Done,
    /// Ask again, with what the store knows.
    Seed,
    /// Ask again: it was the wrong month.
    Again,
    /// All hits are granted, some of them are not used: those who hold them should give back.
    Contested,
}

/// What an instance holds of a link.
#[derive(Debug)]
pub struct Reservation {
    link: LinkId,
    held: AtomicU64,
    /// The limit under which it was granted.
    limit: AtomicU64,
    /// The limit that was asked for last.
    asked_limit: AtomicU64,
    /// When so few are left, more should be asked for.
    low: AtomicU64,
    /// Served without having been granted.
    debt: AtomicU64,
    /// Until when the limit is known to be used up.
    over_until: AtomicI64,
    waiting: AtomicU32,
    /// Whether everything should be given back.
    recalled: AtomicBool,
    /// Whether somebody asks at this moment.
    pub(super) busy: AtomicBool,
    /// Whether the quota looks after it.
    pub(super) active: AtomicBool,
    /// Whether the answer takes longer for a good reason: the store is asked, or those who hold hits
    /// are asked to give them back.
    pub(super) may_wait_longer: AtomicBool,
    /// Rung after each answer.
    pub(super) done: Notify,
    state: Mutex<ReservationState>,
}

#[derive(Debug)]
struct ReservationState {
    month: Month,
    created: i64,
    number: u64,
    /// What was held after the last request or answer: what is missing now has been served.
    base: u64,
    /// Asked, and not answered yet.
    pending: Option<GrantRequest>,
    /// Whether that request may have arrived.
    sent: bool,
    /// Hits a second.
    rate: u64,
    asked_at: i64,
    /// When hits were used last, as far as somebody looked, and what was held then.
    used_at: i64,
    seen: u64,
    /// Hits of a month that the store knew of.
    known: (Month, u64),
}

/// How a reservation stands, for whoever looks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationStatus {
    /// Hits that are held.
    pub held: u64,
    /// Milliseconds since one was used.
    pub idle_ms: i64,
    /// Milliseconds since the last request.
    pub silent_ms: i64,
    /// Whether some were used since.
    pub used: bool,
    /// Whether a request has no answer yet.
    pub unanswered: bool,
}

impl Reservation {
    /// Nothing is held of `link`, which had `hits` in `month` as far as the store knew.
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
            busy: AtomicBool::new(false),
            active: AtomicBool::new(false),
            may_wait_longer: AtomicBool::new(false),
            done: Notify::new(),
            state: Mutex::new(state),
        }
    }

    /// Whose hits these are.
    pub fn link(&self) -> LinkId {
        self.link
    }

    /// Take one hit of `month` under `limit`; `at` is the time in milliseconds.
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

    /// Whether a hit could be taken; `None` when one would have to ask.
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

    /// One hit was served that nobody granted.
    pub fn add_debt(&self) {
        self.debt.fetch_add(1, Ordering::AcqRel);
    }

    /// Somebody waits for a hit under `limit` until the guard is dropped.
    pub fn wait(&self, limit: u64) -> WaitGuard<'_> {
        self.asked_limit.store(limit, Ordering::Release);
        self.waiting.fetch_add(1, Ordering::AcqRel);
        WaitGuard(self)
    }

    /// Everything is to be given back with the next request.
    pub fn recall(&self) {
        self.recalled.store(true, Ordering::Release);
    }

    /// Whether it is.
    pub fn is_recalled(&self) -> bool {
        self.recalled.load(Ordering::Acquire)
    }

    /// How many wait.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Acquire).into()
    }

    /// Whether somebody waits and there is nothing for them.
    pub fn is_wanting(&self, at: i64) -> bool {
        let (_, hits) = unpack(self.held.load(Ordering::Acquire));
        let limit = self.limit.load(Ordering::Acquire);
        let other = limit != self.asked_limit.load(Ordering::Acquire);
        let over = at < self.over_until.load(Ordering::Acquire);
        self.waiting() > 0 && (other || (hits == 0 && !over))
    }

    /// The limit of `month` is held to be used up until `until`.
    pub fn close(&self, month: Month, until: i64) {
        self.over_until.store(until.min(month.end().as_ms()), Ordering::Release);
    }

    /// What the store knew when the link was read, and what was served since then.
    pub fn known(&self, month: Month) -> u64 {
        let known = self.state().known;
        let known = if known.0 == month { known.1 } else { 0 };
        known + self.unreported(month)
    }

    /// Hits served that the counter has not heard of.
    pub fn unreported(&self, month: Month) -> u64 {
        let state = self.state();
        let pending = state.pending.filter(|request| request.month == month);
        let (held_month, held) = unpack(self.held.load(Ordering::Acquire));
        let since = if held_month == month { state.base.saturating_sub(held) } else { 0 };
        since + pending.map_or(0, |request| request.used + request.debt)
    }

    /// How it stands at `at`.
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

    /// What to ask in `month` at `at`. A request that was not answered is asked again.
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
            // Everything can only be given back with the next request.
            self.recalled.fetch_or(recalled, Ordering::AcqRel);
            let mut again = refresh(&pending, state.rate);
            if self.debt.load(Ordering::Acquire) > 0 {
                // First what was served without leave is to be counted, with the next request.
                (again.need, again.want) = (0, 0);
            }
            state.pending = Some(again);
            return again;
        }
        if state.month != month {
            // What was held of another month is worth nothing in this one.
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

    /// Take in the answer to `request`.
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
        // What was served without leave is paid for first: it counts as used with the next request.
        let paid = self.debt.load(Ordering::Acquire).min(counted.grant);
        self.debt.fetch_sub(paid, Ordering::AcqRel);
        let renewed = state.created != 0 && state.created != counted.created;
        state.created = counted.created;
        if renewed {
            // Another counter: what the one before granted is not counted in it.
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

    /// `request` could not be sent this time. If it never was, what it would have given back is held
    /// again; else it stays to be asked once more.
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

    /// Hold nothing any more; what was held.
    fn take_all(&self, month: Month) -> u64 {
        unpack(self.held.swap(pack(month, 0), Ordering::AcqRel)).1
    }

    fn add(&self, month: Month, hits: u64) {
        let more = |word| {
            let (held_month, held) = unpack(word);
            (held_month == month).then(|| pack(month, held + hits))
        };
        // Of another month by now: then they are worth nothing.
        let _ = self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
    }

    fn state(&self) -> MutexGuard<'_, ReservationState> {
        // Nothing in here panics between two changes.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReservationState {
    /// Learn from `used` hits since the last request how fast the link is followed.
    fn measure(&mut self, used: u64, at: i64) {
        let elapsed = u64::try_from((at - self.asked_at).max(SHORTEST_MS)).unwrap_or(1);
        let rate = if self.asked_at == 0 { 0 } else { used.saturating_mul(1000) / elapsed };
        // Up at once, down by and by.
        self.rate = rate.max(self.rate - self.rate.div_ceil(4));
        self.asked_at = at;
    }
}

/// Somebody who waits.
#[derive(Debug)]
pub struct WaitGuard<'a>(&'a Reservation);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

fn pack(month: Month, hits: u64) -> u64 {
    let month = u64::try_from(month.number()).unwrap_or_default();
    (month << HIT_BITS) | hits.min(HIT_MASK)
}

fn unpack(word: u64) -> (Month, u64) {
    let month = i64::try_from(word >> HIT_BITS).unwrap_or_default();
    (Month::from_number(month), word & HIT_MASK)
}
