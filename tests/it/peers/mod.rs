//! Several instances on one PostgreSQL and one Redis.

mod invalidation;
mod outage;
