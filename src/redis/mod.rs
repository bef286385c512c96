//! Redis or Valkey, one server or a cluster: publish and subscribe. The only module that knows the protocol.
//!
//! Invariant: no call takes longer than its timeout. What an outage means is for the caller to decide.

mod breaker;
mod client;
mod server_checks;
mod connection;

pub(crate) use client::{Away, Redis};
pub(crate) use connection::{PubSubEvent, Subscription};
