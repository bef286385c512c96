//! The counter of a link's month, as all instances share it: what is asked of it, what it answers, and
//! the rules. Pure. On Redis the same rules run as a script (`counter.lua`); here they are what the
//! script is compared with, and what a simulation runs.
//!
//! Invariants: what is granted and not given back never exceeds the limit; a question that arrives
//! twice counts once.

use std::collections::HashMap;

use crate::clock::Timestamp;
use crate::link::Month;

/// What an instance reports and asks for, in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Grows with each question of an instance about a link; the same again is the same question.
    pub number: u64,
    /// The month that is meant.
    pub month: Month,
    /// Hits a month.
    pub limit: u64,
    /// What to begin with if nothing is counted yet; `None`: say so first.
    pub seed: Option<u64>,
    /// The counter that the reports below are about; 0: none before.
    pub born: i64,
    /// Hits that were served out of what was granted.
    pub used: u64,
    /// Hits that were granted and are given back.
    pub back: u64,
    /// Hits that were served without having been granted.
    pub debt: u64,
    /// Hits that somebody waits for.
    pub need: u64,
    /// Hits that would be good to have.
    pub want: u64,
    /// How many instances there are.
    pub peers: u64,
}

/// What the counter answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Counted.
    Counted(Counted),
    /// Nothing is counted yet: ask again, with what the store knows.
    NoCounter {
        /// What time it is there.
        now: Timestamp,
    },
    /// It is another month there.
    OtherMonth {
        /// What time it is there.
        now: Timestamp,
    },
}

/// How the counter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Hits that are granted with this answer.
    pub grant: u64,
    /// Hits that nobody has.
    pub left: u64,
    /// Hits that were granted and not given back.
    pub granted: u64,
    /// Those of them that are known to be served.
    pub used: u64,
    /// When the counter began: another one is another counter.
    pub born: i64,
    /// What time it is there.
    pub now: Timestamp,
}

/// The counter.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    kept: Option<Kept>,
    /// What each instance asked last, and got.
    answers: HashMap<String, (u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    granted: u64,
    used: u64,
    born: i64,
}

impl Counter {
    /// Answer `question` of `instance` at `now`.
    pub fn answer(&mut self, instance: &str, question: &Question, now: Timestamp) -> Reply {
        if Month::of(now) != question.month {
            return Reply::OtherMonth { now };
        }
        let fresh = |seed| Kept { granted: seed, used: seed, born: now.as_ms() };
        let Some(mut kept) = self.kept.or(question.seed.map(fresh)) else {
            return Reply::NoCounter { now };
        };
        let (last, given) = self.answers.get(instance).copied().unwrap_or_default();
        let mut grant = 0;
        if question.number == last {
            grant = given;
        } else if question.number > last {
            if question.born == 0 || question.born == kept.born {
                kept.used += question.used;
                kept.granted = kept.granted.saturating_sub(question.back);
            }
            kept.used += question.debt;
            kept.granted += question.debt;
            grant = size(question, question.limit.saturating_sub(kept.granted));
            kept.granted += grant;
            self.answers.insert(instance.to_owned(), (question.number, grant));
            self.kept = Some(kept);
        }
        Reply::Counted(Counted {
            grant,
            left: question.limit.saturating_sub(kept.granted),
            granted: kept.granted,
            used: kept.used,
            born: kept.born,
            now,
        })
    }

    /// Forget everything, as a server does that is started anew.
    pub fn lose(&mut self) {
        *self = Self::default();
    }
}

/// How many of `left` hits to grant: what somebody waits for; beyond that, in advance, no more than
/// half of the instance's part, so that grants get smaller and smaller and at the end there are none.
fn size(question: &Question, left: u64) -> u64 {
    let part = left / (2 * question.peers.max(1));
    left.min(question.need.max(question.want.min(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_773_576_000_000);

    fn question(number: u64) -> Question {
        Question {
            number,
            month: Month::of(NOW),
            limit: 1200,
            seed: Some(0),
            born: 0,
            used: 0,
            back: 0,
            debt: 0,
            need: 0,
            want: u64::MAX,
            peers: 3,
        }
    }

    fn counted(reply: Reply) -> Counted {
        let Reply::Counted(counted) = reply else { panic!("{reply:?}") };
        counted
    }

    #[test]
    fn grants_get_smaller_and_smaller_and_end_in_single_steps() {
        let mut counter = Counter::default();
        let grants: Vec<u64> = (1..=40)
            .map(|number| counted(counter.answer("a", &question(number), NOW)).grant)
            .collect();
        assert_eq!(grants[..4], [200, 166, 139, 115]);
        assert!(grants.is_sorted_by(|a, b| a >= b), "{grants:?}");
        assert_eq!(grants.last(), Some(&0), "the last ones are for those who wait");
        let one = Question { need: 1, ..question(41) };
        let Counted { grant, left, granted, .. } = counted(counter.answer("b", &one, NOW));
        assert_eq!((grant, left + granted), (1, 1200));
    }

    #[test]
    fn the_same_question_again_counts_once_and_an_old_one_not_at_all() {
        let mut counter = Counter::default();
        let first = counted(counter.answer("a", &question(1), NOW));
        assert_eq!(counted(counter.answer("a", &question(1), NOW)), first);
        let back = Question { back: 50, want: 0, ..question(2) };
        assert_eq!(counted(counter.answer("a", &back, NOW)).granted, 150);
        assert_eq!(counted(counter.answer("a", &back, NOW)).granted, 150);
        assert_eq!(counted(counter.answer("a", &question(1), NOW)).granted, 150);
    }

    #[test]
    fn a_counter_begins_with_what_the_store_knows_and_says_when_it_does_not_know() {
        let mut counter = Counter::default();
        let unknown = Question { seed: None, ..question(1) };
        assert_eq!(counter.answer("a", &unknown, NOW), Reply::NoCounter { now: NOW });
        let known = Question { seed: Some(1199), need: 5, ..question(1) };
        assert_eq!(counted(counter.answer("a", &known, NOW)).grant, 1);
        let late = Timestamp::from_ms(NOW.as_ms() + 40 * 86_400_000);
        assert_eq!(counter.answer("a", &known, late), Reply::OtherMonth { now: late });
    }

    #[test]
    fn reports_about_a_counter_that_is_gone_do_not_change_the_next_one() {
        let mut counter = Counter::default();
        let first = counted(counter.answer("a", &question(1), NOW));
        counter.lose();
        let later = Timestamp::from_ms(NOW.as_ms() + 1);
        let seeded = Question { seed: Some(700), want: 0, ..question(1) };
        let second = counted(counter.answer("b", &seeded, later));
        assert_ne!(second.born, first.born);
        let stale = Question { born: first.born, used: 90, back: 110, want: 0, ..question(2) };
        let third = counted(counter.answer("a", &stale, later));
        assert_eq!((third.granted, third.used), (700, 700));
        let debt = Question { born: first.born, debt: 7, want: 0, ..question(3) };
        assert_eq!(counted(counter.answer("a", &debt, later)).granted, 707);
    }
}
