//! Servers, clients and load for kurz's tests and benches: a [`TestServer`] with a database and, where
//! wanted, a Redis of its own, an HTTP client, and the scenarios that `tests/chaos` runs briefly and
//! `benches/chaos` at length. Everything a test takes from here is its own and goes away with it.
#![expect(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::return_self_not_must_use,
    reason = "test code: most names say what they are, and what is not there is a failure"
)]

pub mod accounts;
pub mod builder;
pub mod chaos;
pub mod cleanup;
pub mod clickhouse;
pub mod dns;
pub mod events;
pub mod home;
pub mod http;
pub mod instances;
pub mod links;
pub mod load;
pub mod made_up_events;
pub mod many_links;
pub mod mmdb;
pub mod paced;
pub mod pages;
pub mod plans;
pub mod postgres;
pub mod prefilled;
pub mod process;
pub mod redis;
pub mod rng;
pub mod server;
pub mod servers;
pub mod visitor;

pub use builder::Builder;
pub use home::{Home, Kind};
pub use process::{Process, Program};
pub use server::{NOON, TestServer};

/// A variable that `./scripts/with-servers` sets. A missing server is a failure, never a skip: a
/// skipped test looks just like a passed one.
fn server_url(variable: &str) -> url::Url {
    #[expect(clippy::disallowed_methods, reason = "this is where tests learn of their servers")]
    let Ok(text) = std::env::var(variable) else {
        panic!("{variable} is not set: run ./scripts/test (or ./scripts/with-servers cargo test)");
    };
    text.parse().unwrap_or_else(|error| panic!("{variable} is not a URL: {error}"))
}
