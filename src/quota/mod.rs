//! Hit quotas: how often a link may be followed in a UTC calendar month. In process ([`LocalQuota`]):
//! exact for the one instance that serves an SQLite file. On Redis ([`SharedQuota`]): exact for all
//! instances together, which hold hits in reserve so that a redirect need not ask.

pub mod grant;
pub mod reservation;
mod local;
mod grant_script;
mod shared;
#[cfg(test)]
mod tests;

pub use local::LocalQuota;
pub use reservation::Reservation;
pub use shared::{HitOutcome, SharedQuota};
