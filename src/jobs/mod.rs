//! Work that goes on beside the requests. A job decides when; what is done then is `app`'s.

pub mod cleanup;
pub mod flush;
pub(crate) mod health;
pub(crate) mod heartbeat;
pub(crate) mod store_connections;
