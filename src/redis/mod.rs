//! Redis, or Valkey: one server or a cluster. The only module that knows its protocol: scripts that
//! run in one step, and messages to all who listen.
//!
//! Invariant: no call waits longer than its budget, and while the breaker is open none is made. What
//! it means that Redis is away is for the caller to decide.

mod breaker;
mod client;
mod health;
mod connection;

pub use breaker::Breaker;
pub use client::{Away, Redis, Script};
pub use connection::{PubSubEvent, Subscription};
