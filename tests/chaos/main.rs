//! kurz under load and faults, on real servers. Each scenario is in `kurz_test_support::chaos`, and runs
//! here briefly; `benches/chaos` runs it at length.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test, what is not there is a failure"
)]

mod backup;
mod clock;
mod corrupt;
mod disk_errors;
mod disk_full;
mod fsync;
mod instances;
mod kill;
mod resource_limits;
mod soak;
