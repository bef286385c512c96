//! One answered request, on its way from the worker to the click writer.

use crate::clicks::{ClickTotals, VisitorKind};
use crate::link::{Hour, LinkId};
use crate::time::Timestamp;

/// What is kept of one redirected GET: 24 bytes, 2 of them padding.
#[derive(Clone, Copy, Debug)]
pub struct Click {
    pub link: LinkId,
    pub at: Timestamp,
    /// From arrival to answer, in nanoseconds; saturates at 4 seconds.
    pub nanos: u32,
    pub visitor: VisitorKind,
    /// Whether it used a hit that was reserved in the database.
    pub reserved: bool,
}

impl Click {
    /// The totals of this click alone.
    #[inline]
    pub fn totals(&self) -> ClickTotals {
        ClickTotals {
            link: self.link,
            hour: Hour::of(self.at),
            others: u32::from(self.visitor != VisitorKind::Person),
            clicks: 1,
            reserved: u64::from(self.reserved),
            nanos: self.nanos.into(),
            last_at: self.at,
        }
    }
}
