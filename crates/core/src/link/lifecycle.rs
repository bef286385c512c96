//! Whether a link redirects at a given time, apart from the quota. The quota is checked only for a link that is
//! live, since checking uses a hit.

use crate::link::Reason;
use crate::time::Timestamp;

/// The times and the reason that decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    pub expires_at: Option<Timestamp>,
    /// When cleanup marked it as expired: it stays expired even if the clock is set back.
    pub expired_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    pub purged_at: Option<Timestamp>,
    /// Why it is withheld, if it is.
    pub withheld: Option<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Deleted or purged: answered like a link that never existed.
    NotFound,
    Withheld(Reason),
    Gone,
    /// It may redirect, if its quota allows.
    Live,
}

/// A [`Lifecycle`] in one word, since every cached link has one: until when the link redirects. Values
/// before any possible time stand for the other decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity(i64);

impl Validity {
    const ABSENT: Self = Self(i64::MIN);
    const GONE: Self = Self(i64::MIN + 1);
    /// The first value for withheld links, one for each reason.
    const WITHHELD: i64 = i64::MIN + 2;
    const EARLIEST: i64 = i64::MIN + 64;

    /// The validity of a link with this lifecycle.
    pub fn of(life: Lifecycle) -> Self {
        if life.deleted_at.is_some() || life.purged_at.is_some() {
            Self::ABSENT
        } else if let Some(reason) = life.withheld {
            let at = Reason::ALL.iter().position(|known| *known == reason);
            Self(Self::WITHHELD + at.and_then(|at| i64::try_from(at).ok()).unwrap_or(0))
        } else if life.expired_at.is_some() {
            Self::GONE
        } else {
            let end = life.expires_at.map_or(i64::MAX, Timestamp::as_ms);
            Self(end.max(Self::EARLIEST))
        }
    }

    /// The decision at `now`.
    #[inline]
    pub fn at(self, now: Timestamp) -> Decision {
        if now.as_ms() < self.0 { Decision::Live } else { self.over() }
    }

    #[cold]
    fn over(self) -> Decision {
        if self == Self::ABSENT {
            return Decision::NotFound;
        }
        let reason = usize::try_from(self.0.wrapping_sub(Self::WITHHELD)).ok();
        let reason = reason.and_then(|at| Reason::ALL.get(at));
        reason.map_or(Decision::Gone, |reason| Decision::Withheld(*reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_run_in_the_order_of_the_contract() {
        let at = |ms| Some(Timestamp::from_ms(ms));
        let now = Timestamp::from_ms(100);
        let life = |expires_at, deleted_at, purged_at| Lifecycle {
            expires_at,
            expired_at: None,
            deleted_at,
            purged_at,
            withheld: None,
        };
        let marked = |life| Lifecycle { expired_at: at(150), ..life };
        let cases = [
            (life(None, None, None), Decision::Live),
            (life(at(101), None, None), Decision::Live),
            (life(at(100), None, None), Decision::Gone),
            (life(at(99), None, None), Decision::Gone),
            (life(at(99), at(98), None), Decision::NotFound),
            (life(None, at(200), None), Decision::NotFound),
            (life(at(99), None, at(100)), Decision::NotFound),
            (marked(life(at(101), None, None)), Decision::Gone),
            (marked(life(at(101), at(98), None)), Decision::NotFound),
            (marked(life(at(101), None, at(100))), Decision::NotFound),
        ];
        for (life, expected) in cases {
            assert_eq!(Validity::of(life).at(now), expected, "{life:?}");
        }
    }

    #[test]
    fn a_withheld_link_says_why_whatever_its_time_unless_it_is_deleted() {
        let at = |ms| Some(Timestamp::from_ms(ms));
        for reason in Reason::ALL {
            let life = Lifecycle { withheld: Some(reason), ..Lifecycle::default() };
            for expires_at in [None, at(1), at(i64::MAX)] {
                let validity = Validity::of(Lifecycle { expires_at, ..life });
                assert_eq!(validity.at(Timestamp::from_ms(100)), Decision::Withheld(reason));
            }
            let deleted = Validity::of(Lifecycle { deleted_at: at(1), ..life });
            assert_eq!(deleted.at(Timestamp::from_ms(100)), Decision::NotFound);
        }
    }
}
