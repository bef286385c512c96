//! Which visitors an instance has sent on from a link in the running period, for rules on first and returning
//! visitors. A table of fixed size: when it is full, older entries are forgotten, and their visitors are new again.
//!
//! Invariant: what is kept are hashes of visitors' hashes, whose keys are destroyed after the period.

use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh64::xxh64;

use crate::link::LinkId;

/// Visitors that are remembered: 512 KiB.
const ENTRIES: usize = 1 << 16;
/// Places that a visitor may be in.
const WAYS: usize = 4;

/// Visitors of links.
#[derive(Debug)]
pub struct SeenVisitors(Box<[AtomicU64]>);

impl Default for SeenVisitors {
    fn default() -> Self {
        Self((0..ENTRIES).map(|_| AtomicU64::new(0)).collect())
    }
}

impl SeenVisitors {
    /// Whether the visitor with this hash (see [`crate::clicks::VisitorKeys::person`]) was on the link.
    pub fn has_seen(&self, link: LinkId, person: u64) -> bool {
        let mark = mark(link, person);
        person != 0 && self.set(mark).iter().any(|slot| slot.load(Ordering::Relaxed) == mark)
    }

    /// The visitor is sent on.
    pub fn note(&self, link: LinkId, person: u64) {
        let mark = mark(link, person);
        if person == 0 || self.has_seen(link, person) {
            return;
        }
        let set = self.set(mark);
        let empty = set.iter().find(|slot| slot.load(Ordering::Relaxed) == 0);
        // Another place for each mark, so that no place is always the one to be overwritten.
        let chosen = usize::try_from(mark >> 60).unwrap_or_default() % WAYS;
        if let Some(slot) = empty.or_else(|| set.get(chosen)) {
            slot.store(mark, Ordering::Relaxed);
        }
    }

    fn set(&self, mark: u64) -> &[AtomicU64] {
        let set = usize::try_from(mark & 0xFFFF_FFFF).unwrap_or_default() % (ENTRIES / WAYS);
        self.0.get(set * WAYS..(set + 1) * WAYS).unwrap_or_default()
    }
}

fn mark(link: LinkId, person: u64) -> u64 {
    xxh64(&link.0.to_le_bytes(), person).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_known_on_the_link_they_were_on() {
        let seen = SeenVisitors::default();
        assert!(!seen.has_seen(LinkId(1), 7));
        seen.note(LinkId(1), 7);
        assert!(seen.has_seen(LinkId(1), 7));
        assert!(!seen.has_seen(LinkId(2), 7) && !seen.has_seen(LinkId(1), 8));
        seen.note(LinkId(1), 0);
        assert!(!seen.has_seen(LinkId(1), 0), "nobody knows who that is");
    }

    #[test]
    fn many_visitors_push_out_older_ones_and_the_last_is_always_known() {
        let seen = SeenVisitors::default();
        for person in 1..=200_000 {
            seen.note(LinkId(1), person);
            assert!(seen.has_seen(LinkId(1), person));
        }
    }
}
