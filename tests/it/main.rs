//! Tests across modules, on real servers: one binary, so that they link once. What a module can show
//! alone it shows in its own file. `./scripts/test` starts the servers; without them tests fail.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test, what is not there is a failure"
)]

mod accounts;
mod analytics;
mod api;
mod app;
mod cache;
mod cli;
mod clickhouse;
mod clicks;
mod code;
mod compat;
mod egress;
mod limits;
mod link;
mod net;
mod peers;
mod quota;
mod redirect;
mod redis;
mod server;
mod store;
mod telemetry;
mod tidy;
mod web;
