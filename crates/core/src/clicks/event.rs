//! One answered request, on its way from the worker to the click writer.

use crate::clicks::{ClickTotals, VisitorKind};
use crate::link::{Hour, LinkId};
use crate::time::Timestamp;

/// What is kept of one answered request: 24 bytes, 3 of them padding.
#[derive(Clone, Copy, Debug)]
pub struct Click {
    pub link: LinkId,
    pub at: Timestamp,
    /// From arrival to answer, in nanoseconds; saturates at 4 seconds.
    pub nanos: u32,
    pub visitor: VisitorKind,
}

impl Click {
    /// The totals of this click alone.
    #[inline]
    pub fn totals(&self) -> ClickTotals {
        let is_person = self.visitor == VisitorKind::Person;
        ClickTotals {
            link: self.link,
            hour: Hour::of(self.at),
            others: u32::from(!is_person),
            clicks: u64::from(is_person),
            nanos: if is_person { self.nanos.into() } else { 0 },
            last_at: if is_person { self.at } else { Timestamp::from_ms(0) },
        }
    }
}
