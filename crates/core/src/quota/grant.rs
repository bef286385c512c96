//! How the hits of a link's month are granted to the instances that share its quota. The rules run in the database
//! as statements; tests compare those with this implementation, which the simulation uses.
//!
//! Invariants: the hits that were counted and those that are reserved never exceed the limit together. Hits of
//! an instance that is gone are granted anew only when no running instance has any of that link.

use crate::link::{LinkId, Month};

/// An instance, as one bit in the columns that say who has hits of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceBit(i64);

impl InstanceBit {
    /// How many instances can have a bit of their own.
    pub const SLOTS: u8 = 62;
    /// The bit of all instances beyond that. It counts as running, so that nothing they hold is granted anew.
    pub const SHARED: Self = Self(1 << Self::SLOTS);

    /// The bit that a column holds; the shared one where it holds none.
    pub fn of_column(bit: Option<i64>) -> Self {
        bit.map_or(Self::SHARED, Self)
    }

    /// The first bit that is not in `taken`; the shared one if there is none.
    pub fn first_free(taken: i64) -> Self {
        let free = (0..Self::SLOTS).map(|slot| 1 << slot).find(|bit| taken & bit == 0);
        Self::of_column(free)
    }

    pub fn bits(self) -> i64 {
        self.0
    }
}

/// This instance among those that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members {
    pub own: InstanceBit,
    /// How many there are, this one included.
    pub count: u64,
}

/// What an instance gives back and asks for, of one link in one month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantRequest {
    pub link: LinkId,
    pub month: Month,
    pub limit: u64,
    /// Unused hits that are given back: all that the instance holds.
    pub back: Option<u64>,
    /// Visitors that wait.
    pub need: u64,
    /// Hits to reserve in advance.
    pub want: u64,
}

impl GrantRequest {
    /// Whether it asks for hits.
    pub fn asks(&self) -> bool {
        self.need > 0 || self.want > 0
    }
}

/// The state of a link's month after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantReply {
    pub granted: u64,
    /// Hits that are neither counted nor reserved.
    pub left: u64,
    /// Hits that are reserved and not counted yet.
    pub reserved: u64,
    /// Whether another instance that runs may hold unused hits.
    pub others_hold: bool,
}

/// Whether another instance than `own` is among `holders` and runs, given the bits of all that do.
pub fn others_hold(own: InstanceBit, holders: i64, live: i64) -> bool {
    holders & (live | InstanceBit::SHARED.bits()) & !own.bits() != 0
}

/// The hits of one link: a row of `link_stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaRow {
    pub month: Month,
    /// Hits that were counted.
    pub month_hits: u64,
    /// Hits that instances reserved and that were not counted yet.
    pub reserved: u64,
    /// The instances that may hold unused hits of these.
    pub holders: i64,
    /// The instances that may have clicks of these which are not counted yet.
    pub writers: i64,
}

impl QuotaRow {
    pub fn new(month: Month) -> Self {
        Self { month, month_hits: 0, reserved: 0, holders: 0, writers: 0 }
    }

    /// Answer a request, given the bits of all instances that run; `None` when a later month has begun.
    pub fn answer(
        &mut self,
        members: Members,
        live: i64,
        request: &GrantRequest,
    ) -> Option<GrantReply> {
        if let Some(back) = request.back {
            self.give_back(members.own, request.month, back);
        }
        if self.month < request.month {
            *self = Self::new(request.month);
        } else if self.month > request.month {
            return None;
        }
        if (self.holders | self.writers) & (live | InstanceBit::SHARED.bits()) == 0 {
            // What is left of it belongs to instances that are gone, or to a reply that was lost.
            *self = Self { month_hits: self.month_hits, ..Self::new(self.month) };
        }
        let left = self.left(request.limit);
        let part = left / (2 * members.count.max(1));
        let granted = left.min(request.need.max(request.want.min(part)));
        self.reserved += granted;
        if granted > 0 {
            self.holders |= members.own.bits();
            self.writers |= members.own.bits();
        }
        let (left, reserved) = (self.left(request.limit), self.reserved);
        let others_hold = others_hold(members.own, self.holders, live);
        Some(GrantReply { granted, left, reserved, others_hold })
    }

    /// `own` holds no more hits of `month`; `back` of them were not used. Nothing, if they were granted anew.
    pub fn give_back(&mut self, own: InstanceBit, month: Month, back: u64) {
        if self.month == month && self.holders & own.bits() != 0 {
            self.reserved = self.reserved.saturating_sub(back);
            self.holders &= !own.bits();
        }
    }

    /// `own` holds no hits, and all of its clicks are counted.
    pub fn forget(&mut self, own: InstanceBit, month: Month) {
        if self.month == month {
            self.holders &= !own.bits();
            self.writers &= !own.bits();
        }
    }

    /// Count hits of `month`, of which `reserved` had been reserved.
    pub fn count(&mut self, month: Month, hits: u64, reserved: u64) {
        if self.month < month {
            *self = Self::new(month);
        }
        if self.month == month {
            self.month_hits += hits;
            self.reserved = self.reserved.saturating_sub(reserved);
        }
    }

    fn left(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.month_hits + self.reserved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONTH: Month = Month::from_number(24_315);

    fn members(slot: i64, count: u64) -> Members {
        Members { own: InstanceBit::of_column(Some(1 << slot)), count }
    }

    fn request() -> GrantRequest {
        let link = LinkId(1);
        GrantRequest { link, month: MONTH, limit: 1200, back: None, need: 0, want: u64::MAX }
    }

    #[test]
    fn grants_get_smaller_and_end_in_single_hits() {
        let mut row = QuotaRow::new(MONTH);
        let one = members(0, 3);
        let mut grant = || row.answer(one, 0b111, &request()).unwrap().granted;
        let grants: Vec<u64> = (0..40).map(|_| grant()).collect();
        assert_eq!(grants[..4], [200, 166, 139, 115]);
        assert!(grants.is_sorted_by(|a, b| a >= b), "{grants:?}");
        assert_eq!(grants.last(), Some(&0), "the last hits are granted only to waiting visitors");
        let waits = GrantRequest { need: 1, ..request() };
        let GrantReply { granted, left, reserved, .. } = row.answer(one, 0b111, &waits).unwrap();
        assert_eq!((granted, left + reserved), (1, 1200));
    }

    #[test]
    fn hits_of_an_instance_that_is_gone_come_back_when_no_other_has_any() {
        let mut row = QuotaRow::new(MONTH);
        let (first, second) = (members(0, 2), members(1, 2));
        row.answer(first, 0b11, &GrantRequest { need: 1000, ..request() }).unwrap();
        row.answer(second, 0b11, &GrantRequest { need: 100, ..request() }).unwrap();
        // The first is gone; it had written 300 clicks. The second has used 40 and written none.
        row.count(MONTH, 300, 300);
        let (alone, live) = (members(1, 1), 0b10);
        let all = GrantRequest { need: 2000, ..request() };
        let reply = row.answer(alone, live, &all).unwrap();
        assert_eq!((reply.granted, reply.others_hold), (100, false), "what was never granted");
        row.give_back(alone.own, MONTH, 160);
        row.count(MONTH, 40, 40);
        let looks = GrantRequest { need: 0, want: 0, ..all };
        assert_eq!(row.answer(alone, live, &looks).unwrap().left, 160);
        row.forget(alone.own, MONTH);
        assert_eq!(row.answer(alone, live, &all).unwrap().granted, 1200 - 300 - 40);
    }

    #[test]
    fn a_new_month_starts_at_zero_and_an_old_one_is_refused() {
        let mut row = QuotaRow::new(MONTH);
        let one = members(0, 1);
        row.answer(one, 1, &GrantRequest { need: 1200, ..request() }).unwrap();
        let next = Month::from_number(MONTH.number() + 1);
        let later = GrantRequest { month: next, need: 3, want: 0, ..request() };
        assert_eq!(row.answer(one, 1, &later).unwrap().granted, 3);
        assert_eq!(row.answer(one, 1, &request()), None);
        row.count(MONTH, 900, 900);
        row.give_back(one.own, MONTH, 300);
        assert_eq!((row.month_hits, row.reserved), (0, 3), "what belongs to the old month");
    }

    #[test]
    fn an_instance_without_a_bit_of_its_own_counts_as_running() {
        let mut row = QuotaRow::new(MONTH);
        assert_eq!(InstanceBit::first_free(0b1011), InstanceBit::of_column(Some(0b100)));
        let all_taken = InstanceBit::SHARED.bits() - 1;
        assert_eq!(InstanceBit::first_free(all_taken), InstanceBit::SHARED);
        let without = Members { own: InstanceBit::SHARED, count: 63 };
        row.answer(without, all_taken, &GrantRequest { need: 1200, ..request() }).unwrap();
        let waits = GrantRequest { need: 1, ..request() };
        let reply = row.answer(members(3, 1), 0b1000, &waits).unwrap();
        assert_eq!((reply.granted, reply.others_hold), (0, true));
    }
}
