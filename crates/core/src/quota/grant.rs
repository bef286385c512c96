//! The counter of a link's hits in a month, shared by all instances: its requests, its replies and its rules. On
//! Redis the same rules run as a script (`grant.lua`); tests compare the script with this
//! implementation, which the simulation uses.
//!
//! Invariants: the hits granted and not given back never exceed the limit; a request that arrives
//! twice counts once.

use std::collections::HashMap;

use crate::link::Month;
use crate::time::Timestamp;

/// What an instance reports and requests, in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRequest {
    /// Grows with each request of an instance about a link; the same number is the same request.
    pub number: u64,
    pub month: Month,
    pub limit: u64,
    /// The hits to start from if there is no counter; `None`: reply [`GrantReply::NoCounter`] then.
    pub seed: Option<u64>,
    /// The counter that `used` and `back` refer to; 0: none.
    pub created: i64,
    pub used: u64,
    /// Granted hits that are given back.
    pub back: u64,
    /// Hits that were served without a grant.
    pub debt: u64,
    pub need: u64,
    pub want: u64,
    pub peers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantReply {
    Counted(GrantCount),
    /// There is no counter: send the request again with the hits in the store.
    NoCounter {
        /// The time of the counter's clock.
        now: Timestamp,
    },
    /// It is another month by the counter's clock.
    OtherMonth {
        /// The time of the counter's clock.
        now: Timestamp,
    },
}

/// The state of the counter after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantCount {
    pub grant: u64,
    /// Hits not granted to any instance.
    pub left: u64,
    /// Hits granted and not given back.
    pub granted: u64,
    /// Those of them that are known to be served.
    pub used: u64,
    /// When the counter was created; identifies it.
    pub created: i64,
    /// The time of the counter's clock.
    pub now: Timestamp,
}

#[derive(Clone, Debug, Default)]
pub struct GrantCounter {
    stored: Option<CounterState>,
    /// The number of each instance's last request, and the hits granted with it.
    answers: HashMap<String, (u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct CounterState {
    granted: u64,
    used: u64,
    created: i64,
}

impl GrantCounter {
    /// The reply to `request` of `instance` at `now`.
    pub fn answer(&mut self, instance: &str, request: &GrantRequest, now: Timestamp) -> GrantReply {
        if Month::of(now) != request.month {
            return GrantReply::OtherMonth { now };
        }
        let fresh = |seed| CounterState { granted: seed, used: seed, created: now.as_ms() };
        let Some(mut stored) = self.stored.or(request.seed.map(fresh)) else {
            return GrantReply::NoCounter { now };
        };
        let (last, given) = self.answers.get(instance).copied().unwrap_or_default();
        let mut grant = 0;
        if request.number == last {
            grant = given;
        } else if request.number > last {
            if request.created == 0 || request.created == stored.created {
                stored.used += request.used;
                stored.granted = stored.granted.saturating_sub(request.back);
            }
            stored.used += request.debt;
            stored.granted += request.debt;
            grant = size(request, request.limit.saturating_sub(stored.granted));
            stored.granted += grant;
            self.answers.insert(instance.to_owned(), (request.number, grant));
            self.stored = Some(stored);
        }
        GrantReply::Counted(GrantCount {
            grant,
            left: request.limit.saturating_sub(stored.granted),
            granted: stored.granted,
            used: stored.used,
            created: stored.created,
            now,
        })
    }

    /// Lose everything, as a restarted Redis does.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// How many of `left` hits to grant: those that visitors wait for; in advance no more than half of the
/// instance's share, so that grants get smaller and end at zero.
fn size(request: &GrantRequest, left: u64) -> u64 {
    let part = left / (2 * request.peers.max(1));
    left.min(request.need.max(request.want.min(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_773_576_000_000);

    fn request(number: u64) -> GrantRequest {
        GrantRequest {
            number,
            month: Month::of(NOW),
            limit: 1200,
            seed: Some(0),
            created: 0,
            used: 0,
            back: 0,
            debt: 0,
            need: 0,
            want: u64::MAX,
            peers: 3,
        }
    }

    fn counted(reply: GrantReply) -> GrantCount {
        let GrantReply::Counted(counted) = reply else { panic!("{reply:?}") };
        counted
    }

    #[test]
    fn grants_get_smaller_and_smaller_and_end_in_single_steps() {
        let mut counter = GrantCounter::default();
        let grants: Vec<u64> = (1..=40)
            .map(|number| counted(counter.answer("a", &request(number), NOW)).grant)
            .collect();
        assert_eq!(grants[..4], [200, 166, 139, 115]);
        assert!(grants.is_sorted_by(|a, b| a >= b), "{grants:?}");
        assert_eq!(grants.last(), Some(&0), "the last hits are granted only to waiting visitors");
        let one = GrantRequest { need: 1, ..request(41) };
        let GrantCount { grant, left, granted, .. } = counted(counter.answer("b", &one, NOW));
        assert_eq!((grant, left + granted), (1, 1200));
    }

    #[test]
    fn a_repeated_request_counts_once_and_an_old_one_not_at_all() {
        let mut counter = GrantCounter::default();
        let first = counted(counter.answer("a", &request(1), NOW));
        assert_eq!(counted(counter.answer("a", &request(1), NOW)), first);
        let back = GrantRequest { back: 50, want: 0, ..request(2) };
        assert_eq!(counted(counter.answer("a", &back, NOW)).granted, 150);
        assert_eq!(counted(counter.answer("a", &back, NOW)).granted, 150);
        assert_eq!(counted(counter.answer("a", &request(1), NOW)).granted, 150);
    }

    #[test]
    fn a_counter_starts_from_the_hits_in_the_store_and_asks_for_them() {
        let mut counter = GrantCounter::default();
        let unknown = GrantRequest { seed: None, ..request(1) };
        assert_eq!(counter.answer("a", &unknown, NOW), GrantReply::NoCounter { now: NOW });
        let known = GrantRequest { seed: Some(1199), need: 5, ..request(1) };
        assert_eq!(counted(counter.answer("a", &known, NOW)).grant, 1);
        let late = Timestamp::from_ms(NOW.as_ms() + 40 * 86_400_000);
        assert_eq!(counter.answer("a", &known, late), GrantReply::OtherMonth { now: late });
    }

    #[test]
    fn reports_about_a_counter_that_is_gone_do_not_change_the_next_one() {
        let mut counter = GrantCounter::default();
        let first = counted(counter.answer("a", &request(1), NOW));
        counter.reset();
        let later = Timestamp::from_ms(NOW.as_ms() + 1);
        let seeded = GrantRequest { seed: Some(700), want: 0, ..request(1) };
        let second = counted(counter.answer("b", &seeded, later));
        assert_ne!(second.created, first.created);
        let stale =
            GrantRequest { created: first.created, used: 90, back: 110, want: 0, ..request(2) };
        let third = counted(counter.answer("a", &stale, later));
        assert_eq!((third.granted, third.used), (700, 700));
        let debt = GrantRequest { created: first.created, debt: 7, want: 0, ..request(3) };
        assert_eq!(counted(counter.answer("a", &debt, later)).granted, 707);
    }
}
