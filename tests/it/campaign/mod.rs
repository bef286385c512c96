//! Campaigns: kurz under load and faults, on a seed, with a history of all that clients were told, and
//! a look afterwards whether it holds. The short forms are tests here; the long ones are commands of
//! `benches/campaign`, see `docs/evidence/CHAOS.md`.

pub(crate) mod backup;
pub(crate) mod clock;
pub(crate) mod corrupt;
pub(crate) mod creators;
pub(crate) mod dice;
pub(crate) mod eio;
pub(crate) mod fleet;
pub(crate) mod fsync;
pub(crate) mod full;
pub(crate) mod history;
pub(crate) mod kill;
pub(crate) mod proxy;
pub(crate) mod soak;
pub(crate) mod strain;
