//! The hit quota: how often a link may be followed in a UTC calendar month. [`LocalQuota`] counts in one process and
//! is exact for the one instance that serves an SQLite file. Instances that share a database reserve hits
//! there ([`grant::QuotaRow`]), and each holds a [`Reservation`], so that most redirects need not ask.

pub mod grant;
mod local;
pub mod reservation;
#[cfg(test)]
mod tests;

pub use local::LocalQuota;
pub use reservation::Reservation;
