//! What the statements of `store::locks` do to the row of a lock, given the time of the database. The
//! database runs the statements; a test compares them with these rules, which the simulation uses.
//!
//! Invariant: a holder is identified by its name and by the time the lock was taken; no other passes the
//! fence.

/// A lock taken so far in the future is left over from before the clock was set back, and is free.
const SET_BACK_MS: i64 = 60_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lease(Option<LeaseHolder>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct LeaseHolder {
    by: String,
    at: i64,
    until: i64,
}

impl Lease {
    /// Take the lock for `at_most` milliseconds; since when it is held, or `None` when it is
    /// taken.
    pub fn take(&mut self, by: &str, at_most: i64, now: i64) -> Option<i64> {
        let is_free = |held: &LeaseHolder| held.until <= now || held.at > now + SET_BACK_MS;
        if !self.0.as_ref().is_none_or(is_free) {
            return None;
        }
        self.0 = Some(LeaseHolder { by: by.to_owned(), at: now, until: now + at_most });
        Some(now)
    }

    /// Hold it for `at_most` from now on; `false` when it was lost.
    pub fn extend(&mut self, by: &str, at: i64, at_most: i64, now: i64) -> bool {
        let held = self.held_by(by, at).filter(|held| held.until > now);
        held.map(|held| held.until = now + at_most).is_some()
    }

    /// Release it, so that others can take it once it was held for `at_least`; `false` when it was
    /// lost.
    pub fn release(&mut self, by: &str, at: i64, at_least: i64, now: i64) -> bool {
        self.held_by(by, at).map(|held| held.until = (held.at + at_least).max(now)).is_some()
    }

    /// Whether what is done now, in the same transaction, is done under the lock.
    pub fn fence(&mut self, by: &str, at: i64, now: i64) -> bool {
        self.held_by(by, at).is_some_and(|held| held.until > now)
    }

    fn held_by(&mut self, by: &str, at: i64) -> Option<&mut LeaseHolder> {
        self.0.as_mut().filter(|held| held.by == by && held.at == at)
    }
}
