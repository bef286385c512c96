//! Redis or Valkey, one server or a cluster: atomic scripts, and publish/subscribe. The only module
//! that knows the protocol.
//!
//! Invariant: no call takes longer than its timeout, and while the breaker is open scripts fail
//! immediately. What an outage means is for the caller to decide.

mod breaker;
mod client;
mod server_checks;
mod connection;

pub(crate) use client::{Away, Redis, Script};
pub(crate) use connection::{PubSubEvent, Subscription};
