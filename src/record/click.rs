//! One answered request, on its way from the worker that answered it to the writer.

use crate::clock::Timestamp;
use crate::link::{Hour, LinkId, Tally};

/// Who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// Somebody who follows the link: counted, and limited.
    Person,
    /// A bot that says so, a HEAD or a prefetch: counted apart, uses no quota.
    Other,
}

/// What is kept of one answered request: 24 bytes, 3 of them free. Where somebody came from and
/// with what will take 8 more, still half a cache line.
#[derive(Clone, Copy, Debug)]
pub struct Click {
    /// The link.
    pub link: LinkId,
    /// When.
    pub at: Timestamp,
    /// From arrival to answer, in nanoseconds; 4 seconds and more are 4 seconds.
    pub nanos: u32,
    /// Who asked.
    pub visitor: Visitor,
}

impl Click {
    pub(super) fn tally(&self) -> Tally {
        let is_visit = self.visitor == Visitor::Person;
        Tally {
            link: self.link,
            hour: Hour::of(self.at),
            others: u32::from(!is_visit),
            visits: u64::from(is_visit),
            nanos: if is_visit { self.nanos.into() } else { 0 },
            last_at: if is_visit { self.at } else { Timestamp::from_ms(0) },
        }
    }
}
