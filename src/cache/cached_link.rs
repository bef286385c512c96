//! A link in memory: its answer and its counters in one allocation. With many links every allocation
//! is a cache miss, which costs more than the rest of a redirect.

use std::ops::Deref;
use std::sync::Arc;

use http::StatusCode;
use triomphe::ThinArc;

use crate::cache::{CachedCounters, CachedPlan};
use crate::quota::LinkReservation;
use kurz_core::counters::HoldsCounters;
use kurz_core::link::{LinkId, Validity};

/// A shared handle to a cached link.
#[derive(Clone, Debug)]
pub struct CachedLink(ThinArc<CachedLinkHeader, u8>);

/// What a redirect needs of a link, without its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedLinkFields<'a> {
    /// The address key that it was loaded for.
    pub key: &'a str,
    /// The prepared value of the `Location` header.
    pub location: &'a str,
    pub validity: Validity,
    /// Hits per month; 0 for no limit.
    pub hit_limit: u64,
    pub status: StatusCode,
    /// Whether details of its clicks may be kept.
    pub details: bool,
}

#[derive(Debug)]
pub struct CachedLinkHeader {
    pub validity: Validity,
    /// Hits per month; 0 for no limit.
    pub hit_limit: u64,
    counters: CountersAt,
    pub status: StatusCode,
    /// Whether details of its clicks may be kept.
    pub details: bool,
    /// Where the key ends and the `Location` begins.
    key_end: u16,
}

/// Where the counters are. A link keeps its counters when its fields change.
#[derive(Debug)]
enum CountersAt {
    Here(CachedCounters),
    /// In the first cached version of the link, or its version at another address.
    First(CachedLink),
    /// The same for a link with a plan. The plan is here, where a plain link has its counters, so that a plain link
    /// is not larger for it.
    Planned(CachedLink, Arc<CachedPlan>),
}

impl CachedLink {
    /// The first cached version of a link.
    pub(super) fn new(fields: &CachedLinkFields<'_>, counters: CachedCounters) -> Self {
        Self::with(fields, CountersAt::Here(counters))
    }

    /// The same link, with the same counters and these fields.
    pub(super) fn with_fields(&self, fields: &CachedLinkFields<'_>) -> Self {
        let first = self.first();
        if first.has_fields(fields) {
            return first.clone();
        }
        Self::with(fields, CountersAt::First(first.clone()))
    }

    /// The same link, with the same counters, these fields and a plan.
    pub(super) fn with_plan(&self, fields: &CachedLinkFields<'_>, plan: Arc<CachedPlan>) -> Self {
        Self::with(fields, CountersAt::Planned(self.first().clone(), plan))
    }

    /// The one that has the counters.
    fn first(&self) -> &Self {
        match &self.counters {
            CountersAt::Here(_) => self,
            CountersAt::First(first) | CountersAt::Planned(first, _) => first,
        }
    }

    /// Its plan, if it has one.
    #[inline]
    pub fn plan(&self) -> Option<&CachedPlan> {
        match &self.counters {
            CountersAt::Planned(_, plan) => Some(plan),
            CountersAt::Here(_) | CountersAt::First(_) => None,
        }
    }

    fn with(fields: &CachedLinkFields<'_>, counters: CountersAt) -> Self {
        let CachedLinkFields { key, location, validity, hit_limit, status, details } = *fields;
        let key_end = u16::try_from(key.len()).expect("an address is short");
        let head = CachedLinkHeader { validity, hit_limit, counters, status, details, key_end };
        let texts = [key, location].concat();
        Self(ThinArc::from_header_and_slice(head, texts.as_bytes()))
    }

    fn has_fields(&self, fields: &CachedLinkFields<'_>) -> bool {
        let CachedLinkFields { key, location, validity, hit_limit, status, details } = *fields;
        (self.validity, self.hit_limit, self.status) == (validity, hit_limit, status)
            && self.details == details
            && (self.key(), self.location()) == (key.as_bytes(), location.as_bytes())
    }

    pub fn counters(&self) -> &CachedCounters {
        match &self.counters {
            CountersAt::Here(counters) => counters,
            CountersAt::First(first) | CountersAt::Planned(first, _) => first.counters(),
        }
    }

    pub fn link(&self) -> LinkId {
        self.counters().link()
    }

    /// The address key that it was loaded for.
    pub fn key(&self) -> &[u8] {
        self.texts().0
    }

    /// The prepared value of the `Location` header.
    pub fn location(&self) -> &[u8] {
        self.texts().1
    }

    fn texts(&self) -> (&[u8], &[u8]) {
        self.0.slice.split_at_checked(self.key_end.into()).unwrap_or_default()
    }
}

impl Deref for CachedLink {
    type Target = CachedLinkHeader;

    fn deref(&self) -> &CachedLinkHeader {
        &self.0.header.header
    }
}

impl HoldsCounters for CachedLink {
    type Reservation = Arc<LinkReservation>;

    fn counters(&self) -> &CachedCounters {
        self.counters()
    }

    fn holders(&self) -> usize {
        ThinArc::strong_count(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::link::Month;
    use kurz_core::link::lifecycle::Lifecycle;
    use kurz_core::time::Timestamp;

    const MONTH: Month = Month::from_number(24_000);

    fn fields(location: &str) -> CachedLinkFields<'_> {
        let validity = Validity::of(Lifecycle::default());
        let status = StatusCode::FOUND;
        CachedLinkFields { key: "abc", location, validity, hit_limit: 9, status, details: true }
    }

    #[test]
    fn a_link_that_changes_its_face_keeps_its_counters() {
        let first = CachedLink::new(
            &fields("https://a.example/"),
            CachedCounters::new(LinkId(7), MONTH, 3, None),
        );
        assert_eq!((first.key(), first.location()), (&b"abc"[..], &b"https://a.example/"[..]));
        let same = first.with_fields(&fields("https://a.example/"));
        assert_eq!(same.holders(), 2, "it is the same");
        drop(same);

        let second = first.with_fields(&fields("https://b.example/"));
        assert_eq!(second.location(), b"https://b.example/");
        assert!(second.counters().quota().take(MONTH, 9).is_some());
        let third =
            second.with_fields(&CachedLinkFields { hit_limit: 5, ..fields("https://b.example/") });
        assert_eq!((third.hit_limit, third.link()), (5, LinkId(7)));
        drop(second);
        assert_eq!(first.holders(), 2, "by itself, and by the third");
        assert_eq!(
            third.with_fields(&fields("https://a.example/")).holders(),
            3,
            "the first again"
        );
        for cached in [&first, &third] {
            assert_eq!(cached.counters().quota().used(), (MONTH, 4));
        }
    }

    #[test]
    fn a_plain_link_has_no_byte_more_for_plans() {
        assert!(size_of::<CountersAt>() <= size_of::<CachedCounters>() + size_of::<usize>());
        assert_eq!(size_of::<CachedLinkHeader>(), size_of::<PlainHeader>());
    }

    /// [`CachedLinkHeader`] as it would be without plans.
    #[expect(dead_code, reason = "only its size is looked at")]
    struct PlainHeader {
        validity: Validity,
        hit_limit: u64,
        counters: PlainCountersAt,
        status: StatusCode,
        details: bool,
        key_end: u16,
    }

    #[expect(dead_code, reason = "only its size is looked at")]
    enum PlainCountersAt {
        Here(CachedCounters),
        First(CachedLink),
    }

    #[test]
    fn every_part_of_a_face_counts() {
        let first = CachedLink::new(
            &fields("https://a.example/"),
            CachedCounters::new(LinkId(7), MONTH, 0, None),
        );
        let plain = fields("https://a.example/");
        let ends = Lifecycle { expires_at: Some(Timestamp::from_ms(5)), ..Lifecycle::default() };
        for other in [
            CachedLinkFields { key: "team/abc", ..plain },
            CachedLinkFields { location: "https://a.example/?", ..plain },
            CachedLinkFields { validity: Validity::of(ends), ..plain },
            CachedLinkFields { hit_limit: 0, ..plain },
            CachedLinkFields { details: false, ..plain },
            CachedLinkFields { status: StatusCode::MOVED_PERMANENTLY, ..plain },
            // The texts together are the same.
            CachedLinkFields { key: "abch", location: "ttps://a.example/", ..plain },
        ] {
            let cached = first.with_fields(&other);
            assert_eq!(cached.holders(), 1, "{other:?}");
            assert!(cached.has_fields(&other) && !first.has_fields(&other), "{other:?}");
        }
    }
}
