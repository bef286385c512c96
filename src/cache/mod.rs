//! Memory in front of the store: links by the address they are asked for, and hosts. Bounded, one
//! load at a time for each key, with negative entries so that scans do not reach the store. And
//! links by what was asked for, so that asking again makes no transaction. And the block list, which
//! decides what of all that is shown to nobody.

mod blocked;
mod near;
mod generation;
mod hosts;
mod links;
mod repeats;

pub use blocked::Blocked;
pub use generation::Generation;
pub(crate) use generation::GenerationCache;
pub use hosts::Hosts;
pub use links::{Found, LinkCache};
pub use near::Near;
pub use repeats::{Known, Repeats};
