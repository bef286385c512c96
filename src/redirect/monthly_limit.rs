//! Whether a request may be redirected: the validity of the link, then its monthly limit. Every GET uses a
//! hit of the limit, whoever makes it; HEAD uses none, and is refused once the limit is reached.

use std::sync::Arc;

use kurz_core::clicks::VisitorKind;
use kurz_core::link::{Decision, Month};
use kurz_core::time::Timestamp;

use super::answer::Refusal;
use super::{Admission, RedirectService};
use crate::cache::CachedLink;
use crate::quota::{HitOutcome, LinkReservation, SharedQuota};

impl RedirectService {
    /// The checks, in the order of the contract.
    pub(super) fn admit(
        &self,
        link: &CachedLink,
        visitor: VisitorKind,
        now: Timestamp,
    ) -> Admission {
        match link.validity.at(self.clock.latest(now)) {
            Decision::NotFound => return Admission::Refuse(Refusal::NotFound),
            Decision::Withheld(reason) => return Admission::Refuse(Refusal::Withheld(reason)),
            Decision::Gone => return Admission::Refuse(Refusal::Gone),
            Decision::Live => {}
        }
        self.take_hit(link, visitor, now)
    }

    /// The monthly limit alone.
    #[inline]
    pub(super) fn take_hit(
        &self,
        link: &CachedLink,
        visitor: VisitorKind,
        now: Timestamp,
    ) -> Admission {
        let limit = link.hit_limit;
        // A link without a limit needs no shared quota.
        let Some((quota, held)) = self.shared(link).filter(|_| limit > 0) else {
            return admit_alone(link, now, visitor);
        };
        let hit = match visitor {
            VisitorKind::Person | VisitorKind::Other => quota.take(held, limit),
            VisitorKind::Head => quota.look(held, limit),
        };
        hit.map_or(Admission::Ask, |hit| admit_shared(quota, link, hit, visitor))
    }

    /// The shared quota, and this instance's reservation of the link.
    pub(super) fn shared<'a>(
        &'a self,
        link: &'a CachedLink,
    ) -> Option<(&'a SharedQuota, &'a Arc<LinkReservation>)> {
        Some((self.quota.as_deref()?, link.counters().reservation()?))
    }
}

/// Check the limit in this process alone.
fn admit_alone(link: &CachedLink, now: Timestamp, visitor: VisitorKind) -> Admission {
    let month = Month::of(now);
    let quota = link.counters().quota();
    let counted_in = match visitor {
        VisitorKind::Person | VisitorKind::Other => quota.take(month, link.hit_limit),
        VisitorKind::Head => quota.has_room(month, link.hit_limit).then_some(month),
    };
    match counted_in {
        Some(counted_in) => {
            Admission::Pass { at: counted_at(now, month, counted_in), reserved: false }
        }
        None => over_limit(now),
    }
}

/// The result of the shared quota, by the clock of the database.
pub(super) fn admit_shared(
    quota: &SharedQuota,
    link: &CachedLink,
    hit: HitOutcome,
    visitor: VisitorKind,
) -> Admission {
    let now = quota.now();
    match hit {
        HitOutcome::Over => over_limit(now),
        HitOutcome::Away => Admission::Refuse(Refusal::Uncounted),
        HitOutcome::Granted | HitOutcome::Uncounted => {
            let month = Month::of(now);
            let counted_in = match visitor {
                // Only counted: it was granted.
                VisitorKind::Person | VisitorKind::Other => {
                    link.counters().quota().take(month, 0).unwrap_or(month)
                }
                VisitorKind::Head => month,
            };
            let reserved = hit == HitOutcome::Granted && visitor != VisitorKind::Head;
            Admission::Pass { at: counted_at(now, month, counted_in), reserved }
        }
    }
}

fn over_limit(now: Timestamp) -> Admission {
    Admission::Refuse(Refusal::OverLimit { seconds: Month::seconds_left(now) })
}

/// When a click counts: now, or, where the clock went back over the end of a month, in the month
/// that its hit was counted in.
fn counted_at(now: Timestamp, month: Month, counted_in: Month) -> Timestamp {
    if counted_in == month { now } else { counted_in.start() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_counts_in_the_month_of_its_hit() {
        let july = Timestamp::parse_rfc3339("2026-07-01T00:00:00Z").unwrap();
        let june = Timestamp::parse_rfc3339("2026-06-30T23:59:59.999Z").unwrap();
        let (of_june, of_july) = (Month::of(june), Month::of(july));
        assert_eq!(counted_at(june, of_june, of_june), june);
        assert_eq!(counted_at(july, of_july, of_july), july);
        assert_eq!(counted_at(june, of_june, of_july), july, "the clock went back");
    }
}
