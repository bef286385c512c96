//! Hit quotas: how often a link may be followed in a UTC calendar month. In process ([`Quota`]):
//! exact for the one instance that serves an SQLite file. On Redis ([`Ledger`]): exact for all
//! instances together, which hold hits in reserve so that a redirect need not ask.

pub mod counter;
pub mod reservation;
mod quota;
mod script;
mod shared;
#[cfg(test)]
mod tests;

pub use quota::Quota;
pub use reservation::Reservation;
pub use shared::{Hit, Ledger};
