//! The lives of links, from the first redirect to the tombstone: beside a cleanup at full speed, on
//! clocks that jump, under 64 claimers, on five instances of which some are killed.

mod claims;
mod clock;
mod health;
mod instances;
mod locks;
mod purge;
mod redirects;
mod stage;
