//! Background jobs. A job decides when to run; what it does is in `app`.

pub mod cleanup;
pub(crate) mod clickhouse;
pub(crate) mod events;
pub mod flush;
pub(crate) mod target_health;
pub(crate) mod heartbeat;
pub(crate) mod store_connections;
pub(crate) mod store_file;
