//! Background jobs. A job decides when something is done; `app` does it.

pub mod cleanup;
pub mod flush;
pub mod health;
pub mod heartbeat;
pub mod idle_connections;
