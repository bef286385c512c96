//! kurz, a URL shortener. This page is the map of the code; `docs/ARCHITECTURE.md` explains it.
//!
//! | module | what it holds | imports |
//! |---|---|---|
//! | [`kurz_core`] | a crate of its own, everything without I/O: codes, links, accounts, rate limits, rules of quotas and clicks | nothing |
//! | [`clock`], [`entropy`] | the only readers of time and randomness | nothing |
//! | [`client_address`] | where a request comes from, through trusted proxies | nothing |
//! | `language` | the language of a page, from `Accept-Language` | nothing |
//! | `file_version` | detects that a file has changed | nothing |
//! | `throttle` | serves requests over a rate limit a few at a time | nothing |
//! | [`config`] | every setting: default, bounds, documentation | `kurz_core` |
//! | [`store`] | the only SQL: SQLite and PostgreSQL | `kurz_core`, `config` |
//! | `telemetry` | request ids, spans, access log, OTLP export | `config`, `client_address` |
//! | [`clickhouse`] | a copy of events in ClickHouse, and questions about it | `kurz_core`, `config` |
//! | `redis`, `peers` | Redis; messages between instances | `store`, `config` |
//! | `quota`, [`clicks`] | the quota across instances; the writer of clicks | `store` |
//! | `cache` | links and hosts in memory | `clicks`, `quota`, `store` |
//! | [`redirect`] | the data plane: address → answer | `cache`, `clicks`, `quota`; never `store` |
//! | `egress` | the only code that connects to addresses that users name | nothing |
//! | [`app`] | what kurz does, by resource, whoever asks | all of the above but `redirect` |
//! | `problem` | every error as clients see it | `app` |
//! | `api`, `compat`, [`web`] | the control plane: JSON, compatibility APIs, pages | `app`, `problem` |
//! | [`jobs`] | background work | `app` |
//! | [`net`] | sockets, TLS, accept loop, HTTP/1 framing, fast path, timeouts, limits | nothing of links |
//! | [`server`] | composes all of it: run, dispatch, routes, admin listener | everything but `cli` |
//! | [`cli`] | one subcommand per file | everything |

mod api;
pub mod app;
mod cache;
pub mod clickhouse;
pub mod cli;
pub mod clicks;
pub mod client_address;
pub mod clock;
mod compat;
pub mod config;
mod csv_cell;
mod egress;
pub mod entropy;
mod file_version;
pub mod jobs;
mod language;
pub mod net;
mod peers;
mod problem;
mod quota;
pub mod redirect;
mod redis;
pub mod server;
pub mod store;
mod telemetry;
mod throttle;
pub mod web;
