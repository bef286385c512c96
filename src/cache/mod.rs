//! Memory in front of the store: links by the address they are asked for, and hosts. Bounded, one
//! load at a time for each key, with negative entries so that scans do not reach the store.

mod hosts;
mod links;

pub use hosts::Hosts;
pub use links::{Entry, Found, LinkCache};
