//! Many instances of one kurz, as processes, on one PostgreSQL and one Redis: what they promise
//! together, also while servers and instances die.

mod changes;
mod creators;
mod outage;
mod postgres;
mod quota;
mod redis;
mod replica;
mod restarts;
pub(crate) mod servers;
mod stage;
