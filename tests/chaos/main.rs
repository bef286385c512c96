//! kurz under load and faults, on real servers: processes, databases and Redis that are killed, stopped
//! and cut off. Scenarios of `kurz_test_support::chaos` run here briefly, and at length in `benches/chaos`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test, what is not there is a failure"
)]

mod backup;
mod cleanup_lock;
mod click_losses;
mod clock;
mod corrupt;
mod disk_errors;
mod disk_full;
mod fsync;
mod instances;
mod instances_killed;
mod kill;
mod replica;
mod resource_limits;
mod soak;
