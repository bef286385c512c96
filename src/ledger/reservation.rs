//! What one instance holds of a link's month: hits that were granted to it and are not used yet. A
//! redirect takes one without a lock; asking for more and giving back is the ledger's. Pure: it waits
//! for nothing and is told the time.
//!
//! Invariant: a hit is taken only out of what was granted, for the month and the limit it was granted
//! for. What was given back is not held, whether or not the answer came.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::ledger::counter::{Counted, Question, Reply};
use crate::link::{LinkId, Month};

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
pub enum Next {
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
    /// Whether the ledger looks after it.
    pub(super) active: AtomicBool,
    /// Whether the answer takes longer for a good reason: the store is asked, or those who hold hits
    /// are asked to give them back.
    pub(super) worth_waiting: AtomicBool,
    /// Rung after each answer.
    pub(super) done: Notify,
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    month: Month,
    born: i64,
    number: u64,
    /// What was held after the last question or answer: what is missing now has been served.
    base: u64,
    /// Asked, and not answered yet.
    pending: Option<Question>,
    /// Whether that question may have arrived.
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
pub struct Standing {
    /// Hits that are held.
    pub held: u64,
    /// Milliseconds since one was used.
    pub idle_ms: i64,
    /// Milliseconds since the last question.
    pub silent_ms: i64,
    /// Whether some were used since.
    pub used: bool,
    /// Whether a question has no answer yet.
    pub unanswered: bool,
}

impl Reservation {
    /// Nothing is held of `link`, which had `hits` in `month` as far as the store knew.
    pub fn new(link: LinkId, month: Month, hits: u64) -> Self {
        let book = Book {
            month,
            born: 0,
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
            worth_waiting: AtomicBool::new(false),
            done: Notify::new(),
            book: Mutex::new(book),
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
    pub fn owe(&self) {
        self.debt.fetch_add(1, Ordering::AcqRel);
    }

    /// Somebody waits for a hit under `limit` until the guard is dropped.
    pub fn wait(&self, limit: u64) -> Waiting<'_> {
        self.asked_limit.store(limit, Ordering::Release);
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Waiting(self)
    }

    /// Everything is to be given back with the next question.
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
        let known = self.book().known;
        let known = if known.0 == month { known.1 } else { 0 };
        known + self.unreported(month)
    }

    /// Hits served that the counter has not heard of.
    pub fn unreported(&self, month: Month) -> u64 {
        let book = self.book();
        let pending = book.pending.filter(|question| question.month == month);
        let (held_month, held) = unpack(self.held.load(Ordering::Acquire));
        let since = if held_month == month { book.base.saturating_sub(held) } else { 0 };
        since + pending.map_or(0, |question| question.used + question.debt)
    }

    /// How it stands at `at`.
    pub fn standing(&self, at: i64) -> Standing {
        let mut book = self.book();
        let held = self.hits();
        if held != book.seen {
            (book.seen, book.used_at) = (held, at);
        }
        Standing {
            held,
            idle_ms: at - book.used_at,
            silent_ms: at - book.asked_at,
            used: held < book.base,
            unanswered: book.pending.is_some(),
        }
    }

    /// What to ask in `month` at `at`. A question that was not answered is asked again.
    pub fn question(&self, month: Month, peers: u64, seed: Option<u64>, at: i64) -> Question {
        let mut book = self.book();
        let limit = self.asked_limit.load(Ordering::Acquire);
        let recalled = self.recalled.swap(false, Ordering::AcqRel);
        let need = self.waiting();
        let refresh = |question: &Question, rate: u64| Question {
            limit,
            seed,
            need,
            want: if recalled { 0 } else { rate.saturating_mul(AHEAD_SECONDS) },
            peers,
            ..*question
        };
        if let Some(pending) = book.pending.filter(|pending| pending.month == month) {
            // Everything can only be given back with the next question.
            self.recalled.fetch_or(recalled, Ordering::AcqRel);
            let mut again = refresh(&pending, book.rate);
            if self.debt.load(Ordering::Acquire) > 0 {
                // First what was served without leave is to be counted, with the next question.
                (again.need, again.want) = (0, 0);
            }
            book.pending = Some(again);
            return again;
        }
        if book.month != month {
            // What was held of another month is worth nothing in this one.
            self.held.store(pack(month, 0), Ordering::Release);
            self.over_until.store(i64::MIN, Ordering::Release);
            (book.month, book.born, book.base) = (month, 0, 0);
        }
        let everything = recalled || self.limit.load(Ordering::Acquire) != limit;
        let held = if everything { self.empty(month) } else { self.hits() };
        let used = book.base.saturating_sub(held);
        let back = if everything { held } else { 0 };
        book.base = held - back;
        book.measure(used.max(need), at);
        book.number += 1;
        book.sent = false;
        let question = Question {
            number: book.number,
            month,
            limit,
            seed,
            born: book.born,
            used,
            back,
            debt: self.debt.swap(0, Ordering::AcqRel),
            need: 0,
            want: 0,
            peers,
        };
        let mut question = refresh(&question, book.rate);
        question.want = question.want.saturating_sub(held - back);
        book.pending = Some(question);
        question
    }

    /// Take in the answer to `question`.
    pub fn settle(&self, question: &Question, reply: &Reply, at: i64) -> Next {
        let mut book = self.book();
        if book.pending.is_none_or(|pending| pending.number != question.number) {
            return Next::Done;
        }
        let counted = match reply {
            Reply::NoCounter { .. } => return Next::Seed,
            Reply::OtherMonth { .. } => {
                book.pending = None;
                return Next::Again;
            }
            Reply::Counted(counted) => counted,
        };
        book.pending = None;
        // What was served without leave is paid for first: it counts as used with the next question.
        let paid = self.debt.load(Ordering::Acquire).min(counted.grant);
        self.debt.fetch_sub(paid, Ordering::AcqRel);
        let renewed = book.born != 0 && book.born != counted.born;
        book.born = counted.born;
        if renewed {
            // Another counter: what the one before granted is not counted in it.
            self.held.store(pack(question.month, counted.grant - paid), Ordering::Release);
            book.base = counted.grant;
        } else {
            self.add(question.month, counted.grant - paid);
            book.base += counted.grant;
        }
        self.limit.store(question.limit, Ordering::Release);
        self.low.store(self.hits() / LOW, Ordering::Release);
        if counted.grant > 0 {
            self.over_until.store(i64::MIN, Ordering::Release);
        }
        self.verdict(counted, question.month, at)
    }

    /// The question is about to be sent.
    pub fn sending(&self) {
        self.book().sent = true;
    }

    /// `question` could not be sent this time. If it never was, what it would have given back is held
    /// again; else it stays to be asked once more.
    pub fn unsent(&self, question: &Question) {
        let mut book = self.book();
        let is_pending = book.pending.is_some_and(|pending| pending.number == question.number);
        if is_pending && !book.sent {
            book.pending = None;
            self.add(question.month, question.back);
            book.base += question.back + question.used;
            self.debt.fetch_add(question.debt, Ordering::AcqRel);
        }
    }

    fn verdict(&self, counted: &Counted, month: Month, at: i64) -> Next {
        if counted.left > 0 || self.hits() > 0 {
            Next::Done
        } else if counted.used >= counted.granted {
            self.close(month, at + OVER_MS);
            Next::Done
        } else {
            Next::Contested
        }
    }

    fn hits(&self) -> u64 {
        unpack(self.held.load(Ordering::Acquire)).1
    }

    /// Hold nothing any more; what was held.
    fn empty(&self, month: Month) -> u64 {
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

    fn book(&self) -> MutexGuard<'_, Book> {
        // Nothing in here panics between two changes.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Learn from `used` hits since the last question how fast the link is followed.
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
pub struct Waiting<'a>(&'a Reservation);

impl Drop for Waiting<'_> {
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
