//! One answered request, on its way from the worker to the click writer.

use crate::clicks::ClickTotals;
use crate::link::{Hour, LinkId};
use crate::time::Timestamp;

/// What is kept of one answered GET: 56 bytes, 2 of them padding. What is not known is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Click {
    pub link: LinkId,
    pub at: Timestamp,
    /// A keyed hash of address and user agent, see [`crate::clicks::VisitorKeys`].
    pub person: u64,
    /// An IPv4 address, or, with [`ClickFlags::V6`], the first 64 bits of an IPv6 address.
    pub net: u64,
    /// From arrival to answer, in nanoseconds; saturates at 4 seconds.
    pub nanos: u32,
    /// See [`crate::clicks::pack_language`].
    pub language: u32,
    /// The user agent, in the [`crate::clicks::Texts`] of the same batch.
    pub agent: u16,
    /// The host or the Android app of the referrer, likewise.
    pub referrer: u16,
    /// The query, likewise, if it has a part that analytics use.
    pub query: u16,
    /// The host that was asked for, likewise.
    pub host: u16,
    /// Two upper-case ASCII letters that a trusted proxy sent, the first in the upper byte.
    pub country: u16,
    pub flags: ClickFlags,
    /// The rule of the link's plan that decided, from 1 on; 0: none.
    pub rule: u8,
    /// The variant of a split that was chosen, from 1 on; 0: none.
    pub variant: u8,
    pub answer: ClickAnswer,
}

impl Click {
    /// A redirect of which nothing but link, time and latency is known.
    #[inline]
    pub const fn new(link: LinkId, at: Timestamp, nanos: u32) -> Self {
        Self {
            link,
            at,
            person: 0,
            net: 0,
            nanos,
            language: 0,
            agent: 0,
            referrer: 0,
            query: 0,
            host: 0,
            country: 0,
            flags: ClickFlags::NONE,
            rule: 0,
            variant: 0,
            answer: ClickAnswer::Redirect,
        }
    }

    /// The totals of this click alone; `None` for a request that was not redirected, which counts nowhere.
    #[inline]
    pub fn totals(&self) -> Option<ClickTotals> {
        (self.answer == ClickAnswer::Redirect).then(|| ClickTotals {
            link: self.link,
            hour: Hour::of(self.at),
            others: u32::from(self.flags.has(ClickFlags::OTHER)),
            clicks: 1,
            reserved: u64::from(self.flags.has(ClickFlags::RESERVED)),
            nanos: self.nanos.into(),
            last_at: self.at,
        })
    }
}

/// Properties of a click, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClickFlags(u16);

impl ClickFlags {
    pub const NONE: Self = Self(0);
    /// Not a person: a declared bot, by the worker's list, or a prefetch.
    pub const OTHER: Self = Self(1);
    pub const PREFETCH: Self = Self(1 << 1);
    /// The address is an IPv6 address.
    pub const V6: Self = Self(1 << 2);
    /// The visitor asked not to be tracked: nothing about them was read.
    pub const PRIVATE: Self = Self(1 << 3);
    /// From an excluded network, or by a request that asks not to be tracked.
    pub const EXCLUDED: Self = Self(1 << 4);
    /// It used a hit that was reserved in the database.
    pub const RESERVED: Self = Self(1 << 5);
    /// Analytics are on for the link. Without it nothing but counts is kept.
    pub const DETAILS: Self = Self(1 << 6);
    /// The browser sent `Sec-GPC: 1`, or `DNT: 1`, which the server does not honour; the workspace may.
    pub const GPC: Self = Self(1 << 7);
    pub const DNT: Self = Self(1 << 8);

    /// Whether all of `flags` are set.
    #[inline]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// With `flags` set as well.
    #[inline]
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }

    /// With `flags` set as well, if `is_so`.
    #[inline]
    #[must_use]
    pub const fn with_if(self, flags: Self, is_so: bool) -> Self {
        if is_so { self.with(flags) } else { self }
    }
}

/// What a request was answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ClickAnswer {
    #[default]
    Redirect,
    /// 404: the link is deleted.
    NotFound,
    /// 410: the link has expired.
    Gone,
    /// 410: the link is disabled.
    Blocked,
    /// 429: the monthly limit is reached.
    OverLimit,
    /// 503: nobody could say whether the limit is reached.
    Unavailable,
    /// 200 or 401: the page that asks for the password.
    Password,
    /// 403, 404 or 451: a rule of the link says so.
    Refused,
    /// 200: the card for previews, or a page before the target.
    Page,
    /// 302: to where the link leads before or after its time.
    Elsewhere,
}

impl ClickAnswer {
    /// Its value in [`crate::analytics::TextColumn::Answer`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redirect => "30x",
            Self::NotFound => "404",
            Self::Gone => "410",
            Self::Blocked => "blocked",
            Self::OverLimit => "429",
            Self::Unavailable => "503",
            Self::Password => "password",
            Self::Refused => "403",
            Self::Page => "200",
            Self::Elsewhere => "302",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_takes_56_bytes() {
        assert_eq!(size_of::<Click>(), 56);
    }

    #[test]
    fn only_a_redirect_counts() {
        let click = Click::new(LinkId(7), Timestamp::from_ms(3_600_000), 5);
        let totals = click.totals().unwrap();
        assert_eq!((totals.clicks, totals.others, totals.reserved, totals.nanos), (1, 0, 0, 5));
        let flags = ClickFlags::OTHER.with(ClickFlags::RESERVED);
        let totals = Click { flags, ..click }.totals().unwrap();
        assert_eq!((totals.clicks, totals.others, totals.reserved), (1, 1, 1));
        assert_eq!(Click { answer: ClickAnswer::OverLimit, ..click }.totals(), None);
    }

    #[test]
    fn flags_do_not_overlap() {
        let all = [
            ClickFlags::OTHER,
            ClickFlags::PREFETCH,
            ClickFlags::V6,
            ClickFlags::PRIVATE,
            ClickFlags::EXCLUDED,
            ClickFlags::RESERVED,
            ClickFlags::DETAILS,
            ClickFlags::GPC,
            ClickFlags::DNT,
        ];
        for (at, flag) in all.into_iter().enumerate() {
            let others = all.into_iter().enumerate().filter(|(other, _)| *other != at);
            let others = others.fold(ClickFlags::NONE, |sum, (_, other)| sum.with(other));
            assert!(!others.has(flag) && others.with(flag).has(flag), "{flag:?}");
            assert_eq!(others.with_if(flag, false), others);
        }
    }
}
