//! The store on both databases: equal behaviour, durability, locks, outages, copies, searches.

mod both_databases;
mod claims;
mod copy;
mod durability;
mod locks;
mod members;
mod opened;
pub(crate) mod outage;
pub(crate) mod postgres;
mod reservations;
mod search;
