//! The hit quota of a link across instances: exact for all instances together, which reserve hits in advance so that a
//! redirect need not wait for Redis. The rules, and the quota of a single instance, are in
//! [`kurz_core::quota`].

mod grant_script;
mod link_reservation;
mod shared;

pub(crate) use link_reservation::LinkReservation;
pub(crate) use shared::{HitOutcome, SharedQuota};
