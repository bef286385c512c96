//! Tests across modules, on real servers: one binary, so that they link once. What a module can show
//! alone it shows in its own file. `./scripts/test` starts the servers; without them tests fail.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "in a test, what is not there is a failure"
)]

mod abuse;
mod api;
mod campaign;
mod canon_differential;
mod cli_client;
mod cli_doctor;
mod cli_offline;
mod cli_store;
mod copy;
mod deterministic;
mod durability;
mod edge;
mod harness;
mod hostile;
mod limits;
mod links;
mod lives;
mod outage;
mod people;
mod redirects;
mod repeats;
mod scale;
mod start_errors;
mod store_suite;
mod telemetry;
mod tidy;
mod tls;
mod vectors;
mod web;
