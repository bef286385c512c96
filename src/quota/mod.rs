//! The limits of links. The monthly limit where instances share a database: each reserves hits there and takes them
//! without asking. The click limit of a link's whole life: each use is written before the visitor is sent on. The rules are in [`kurz_core::quota`]; this sends the requests and waits for the replies.

mod click_limit;
mod link_reservation;
mod membership;
mod shared;

pub(crate) use click_limit::{ClickLimits, UseOutcome};
pub(crate) use link_reservation::LinkReservation;
pub(crate) use shared::SharedQuota;

/// The result of asking for a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitOutcome {
    /// It may be served with a reserved hit.
    Granted,
    /// It may be served though no hit could be reserved: the operator wants that in an outage.
    Uncounted,
    Over,
    /// No hit could be reserved.
    Away,
}
