//! The click queue of one worker. Only that worker pushes, so its lock is nearly always free: the
//! writer takes everything a few times a second, by swapping one list for another.

use std::hint::black_box;
use std::mem;

use crate::clicks::{Click, HashedText, Texts, VisitorKeys};
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::time::Timestamp;

/// The most clicks in a queue: 3.5 MiB.
pub const CAPACITY: usize = 1 << 16;
/// The clicks that an empty queue makes room for.
const FIRST_ROOM: usize = 256;

/// Clicks that are not written yet, and the texts that they refer to.
#[derive(Debug, Default)]
pub struct QueuedClicks {
    pub clicks: Vec<Click>,
    pub texts: Texts,
}

impl QueuedClicks {
    /// Remove everything, addresses from memory as well: what is behind the end of a list stays there
    /// until it is overwritten.
    pub fn clear(&mut self) {
        self.forget_visitors();
        self.clicks.clear();
        self.texts.clear();
    }

    fn forget_visitors(&mut self) {
        for click in &mut self.clicks {
            (click.net, click.person) = (0, 0);
        }
    }

    /// Make room for more clicks. A list that grows by itself would leave the addresses in the memory that it
    /// had before.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let room = (self.clicks.capacity() * 2).clamp(FIRST_ROOM, CAPACITY);
        let mut more = Vec::with_capacity(room);
        more.extend_from_slice(&self.clicks);
        self.forget_visitors();
        // Otherwise the compiler leaves out what nobody can read any more.
        drop(black_box(mem::replace(&mut self.clicks, more)));
    }
}

/// What is added to a click when it is queued.
#[derive(Clone, Copy, Debug)]
pub struct ClickDetails<'a> {
    pub host: &'a [u8],
    /// What of the request is about the visitor; `None` for one who asked not to be tracked.
    pub visitor: Option<VisitorDetails<'a>>,
    /// The secret seed of the texts' hashes.
    pub seed: u64,
}

/// Texts that the request does not have are empty.
#[derive(Clone, Copy, Debug)]
pub struct VisitorDetails<'a> {
    /// An IPv4 address as mapped into IPv6.
    pub address: u128,
    /// The hash is the one that a visitor is recognised by: that of the whole user agent under a seed
    /// that all instances share.
    pub agent: HashedText<'a>,
    pub referrer: &'a [u8],
    pub query: &'a [u8],
}

/// A bounded list of clicks that are not collected yet.
#[derive(Debug, Default)]
pub struct ClickQueue(Mutex<QueueState>);

#[derive(Debug, Default)]
struct QueueState {
    queued: QueuedClicks,
    keys: VisitorKeys,
    /// The latest time of a click: a clock that is set back does not bring back an older key.
    latest: Option<Timestamp>,
}

impl ClickQueue {
    /// Add a click with its details; `false` when the queue is full.
    #[inline]
    pub fn push(&self, mut click: Click, details: Option<&ClickDetails<'_>>) -> bool {
        let mut state = self.lock();
        let has_room = state.queued.clicks.len() < CAPACITY;
        if has_room {
            if let Some(details) = details {
                state.add(&mut click, details);
            }
            if state.queued.clicks.len() == state.queued.clicks.capacity() {
                state.queued.grow();
            }
            state.queued.clicks.push(click);
        }
        has_room
    }

    /// The hash of a visitor in the period of `at`; see [`VisitorKeys::person`].
    pub fn person(&self, at: Timestamp, address: u128, agent: u64) -> u64 {
        let state = self.lock();
        let latest = state.latest.map_or(at, |latest| latest.max(at));
        state.keys.person(latest, address, agent)
    }

    /// Take all clicks with their texts into `queued`, whose former content is removed.
    pub fn exchange(&self, queued: &mut QueuedClicks) {
        queued.clear();
        mem::swap(&mut self.lock().queued, queued);
    }

    /// Hash visitors under these keys from now on. The ones before are overwritten.
    pub fn set_visitor_keys(&self, keys: VisitorKeys) {
        self.lock().keys = keys;
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Every operation leaves the state consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    #[inline]
    fn add(&mut self, click: &mut Click, details: &ClickDetails<'_>) {
        let ClickDetails { host, visitor, seed } = details;
        let texts = &mut self.queued.texts;
        click.host = texts.intern_host(host, *seed);
        let Some(VisitorDetails { address, agent, referrer, query }) = visitor else { return };
        click.agent = texts.intern(*agent);
        if !referrer.is_empty() {
            click.referrer = texts.intern(HashedText::hashed(referrer, *seed));
        }
        if !query.is_empty() {
            click.query = texts.intern(HashedText::hashed(query, *seed));
        }
        let latest = self.latest.map_or(click.at, |latest| latest.max(click.at));
        self.latest = Some(latest);
        click.person = self.keys.person(latest, *address, agent.hash());
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::clicks::PeriodKey;
    use crate::link::LinkId;

    const SEED: u64 = 3;

    fn click(at: i64) -> Click {
        Click::new(LinkId(1), Timestamp::from_ms(at), 9)
    }

    fn visitor(agent: &str) -> VisitorDetails<'_> {
        VisitorDetails {
            address: 0xFFFF_0102_0304,
            agent: HashedText::hashed(agent.as_bytes(), SEED),
            referrer: b"t.co",
            query: b"",
        }
    }

    fn details(visitor: Option<VisitorDetails<'_>>) -> ClickDetails<'_> {
        ClickDetails { host: b"kurz.example", visitor, seed: SEED }
    }

    #[test]
    fn clicks_are_taken_together_with_their_texts() {
        let queue = ClickQueue::default();
        let mut queued = QueuedClicks::default();
        for _ in 0..3 {
            assert!(queue.push(click(1), Some(&details(Some(visitor("Firefox"))))));
            assert!(queue.push(click(2), Some(&details(None))));
            assert!(queue.push(click(3), None));
            queue.exchange(&mut queued);
            let texts = |click: &Click| {
                [click.host, click.agent, click.referrer, click.query]
                    .map(|index| String::from_utf8(queued.texts.get(index).to_vec()).unwrap())
            };
            let seen: Vec<_> = queued.clicks.iter().map(texts).collect();
            let none = || [""; 4].map(str::to_owned);
            let all = ["kurz.example", "Firefox", "t.co", ""].map(str::to_owned);
            let host = ["kurz.example", "", "", ""].map(str::to_owned);
            assert_eq!(seen, [all, host, none()]);
            assert!(queued.clicks.iter().all(|click| click.person == 0), "there is no key yet");
        }
    }

    #[test]
    fn a_visitor_has_the_same_hash_on_all_queues_and_none_without_a_key() {
        let keys = |from: i64, byte| {
            let at = Timestamp::from_ms;
            Some(PeriodKey::new(at(from), at(from + 100), [byte; 16]))
        };
        let person = |queue: &ClickQueue, at| {
            queue.push(click(at), Some(&details(Some(visitor("Firefox")))));
            let mut queued = QueuedClicks::default();
            queue.exchange(&mut queued);
            queued.clicks.last().unwrap().person
        };
        let queues = [ClickQueue::default(), ClickQueue::default()];
        for queue in &queues {
            queue.set_visitor_keys(VisitorKeys { current: keys(0, 1), next: keys(100, 2) });
        }
        let [one, two] = &queues;
        let first = person(one, 50);
        assert!(first != 0 && person(two, 50) == first);
        let second = person(one, 150);
        assert!(second != first && person(two, 150) == second);
        assert_eq!(person(one, 50), second, "the clock was set back");
        assert_eq!(person(one, 250), 0);
        one.set_visitor_keys(VisitorKeys::default());
        assert_eq!(person(one, 260), 0);
    }

    #[test]
    fn no_address_is_left_in_the_list_that_the_writer_gives_back() {
        let mut queued = QueuedClicks::default();
        queued.clicks.push(Click { net: 0x0102_0304, person: 8, ..click(1) });
        queued.forget_visitors();
        assert_eq!(queued.clicks, [click(1)]);
        queued.clear();
        assert!(queued.clicks.is_empty() && queued.texts.is_empty());
    }

    // threats: E14
    #[test]
    fn a_full_queue_takes_neither_clicks_nor_texts() {
        let queue = ClickQueue::default();
        for _ in 0..CAPACITY {
            assert!(queue.push(click(1), None));
        }
        assert!(!queue.push(click(1), Some(&details(Some(visitor("Firefox"))))));
        let mut queued = QueuedClicks::default();
        queue.exchange(&mut queued);
        assert_eq!((queued.clicks.len(), queued.texts.len()), (CAPACITY, 0));
    }
}
