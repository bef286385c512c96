//! The decision at the heart of a redirect, apart from the quota: what a link's times say at one
//! instant. The quota is asked only for a link that is live, since asking uses it up.

use crate::clock::Timestamp;

/// The times that decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// From when on the link is gone.
    pub expires_at: Option<Timestamp>,
    /// When cleanup found its time over: from then on no clock brings it back.
    pub expired_at: Option<Timestamp>,
    /// When it was deleted.
    pub deleted_at: Option<Timestamp>,
    /// When it became a tombstone.
    pub purged_at: Option<Timestamp>,
}

/// What the times say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Deleted or purged: as if it never was.
    NotFound,
    /// Its time is over.
    Gone,
    /// It may redirect, if its quota allows.
    Live,
}

/// What the times come to: until when the link redirects. One word, since every link in memory has
/// one; the two ends of time that no link can have say what else there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate(i64);

impl Fate {
    const ABSENT: Self = Self(i64::MIN);
    const GONE: Self = Self(i64::MIN + 1);

    /// What a link with these times comes to.
    pub fn of(life: Life) -> Self {
        if life.deleted_at.is_some() || life.purged_at.is_some() {
            Self::ABSENT
        } else if life.expired_at.is_some() {
            Self::GONE
        } else {
            let end = life.expires_at.map_or(i64::MAX, Timestamp::as_ms);
            Self(end.max(Self::GONE.0))
        }
    }

    /// What the link answers at `now`.
    pub fn at(self, now: Timestamp) -> Decision {
        if self == Self::ABSENT {
            Decision::NotFound
        } else if now.as_ms() < self.0 {
            Decision::Live
        } else {
            Decision::Gone
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_run_in_the_order_of_the_contract() {
        let at = |ms| Some(Timestamp::from_ms(ms));
        let now = Timestamp::from_ms(100);
        let life = |expires_at, deleted_at, purged_at| Life {
            expires_at,
            expired_at: None,
            deleted_at,
            purged_at,
        };
        let marked = |life| Life { expired_at: at(150), ..life };
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
            assert_eq!(Fate::of(life).at(now), expected, "{life:?}");
        }
    }
}
