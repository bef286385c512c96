//! Scenarios of chaos: kurz under load and faults, on a seed, with a history of all that clients were
//! told, and a check afterwards that it holds. `tests/chaos` runs them briefly, `benches/chaos` at
//! length.

pub mod backup;
pub mod clock;
pub mod corrupt;
pub mod creators;
pub mod disk_full;
pub mod history;
pub mod instances;
pub mod kill;
pub mod proxy;
pub mod soak;
