//! The monthly limit of a link where instances share a database: each reserves hits there and takes them without
//! asking. The rules are in [`kurz_core::quota`]; this sends the requests and waits for the replies.

mod link_reservation;
mod membership;
mod shared;

pub(crate) use link_reservation::LinkReservation;
pub(crate) use shared::{HitOutcome, SharedQuota};
