//! kurz: a URL shortener. This page is the map of the code; `docs/ARCHITECTURE.md` walks through
//! it.
//!
//! | module | what it holds | knows |
//! |---|---|---|
//! | [`code`] | the algorithms: canonical form, codes | nothing: pure |
//! | [`link`] | what a link is, its life, its month | `code`, `account`: pure |
//! | [`account`] | people, roles, credentials, and what each may do | `code`: pure |
//! | [`clock`], [`entropy`] | the only readers of time and randomness | nothing |
//! | [`limits`] | how often somebody may do something: pure | nothing |
//! | [`client_address`] | where a request comes from, through trusted proxies | nothing |
//! | `language` | the language of a page, from `Accept-Language` | nothing: pure |
//! | `sync` | atomics and locks that `tests/loom` replaces by its own | nothing |
//! | [`config`] | every setting: default, bounds, words | `code`, `account` |
//! | [`store`] | the only SQL: SQLite and PostgreSQL | `code`, `link`, `account`, `config` |
//! | [`telemetry`] | request ids, spans, access log, OTLP export | `config`, `account`, `client_address` |
//! | [`redis`], [`peers`] | Redis; what instances say to each other | `store`, `config` |
//! | [`quota`], [`clicks`] | quotas; redirects on their way to the store | `store`, `link` |
//! | [`cache`] | links and hosts in memory | `store`, `clicks` |
//! | [`redirect`] | the data plane: address → answer | `cache`, `clicks`, `link`; never `store` |
//! | [`egress`] | the only door to places that users name | nothing |
//! | [`app`] | what kurz does, whoever asks | all of the above but `redirect` |
//! | `api`, `compat`, [`web`] | the control plane: JSON, compatibility APIs, pages | `app` |
//! | `problem` | every error as it leaves the house | `app` |
//! | [`jobs`] | work beside the requests | `app` |
//! | [`net`] | sockets, TLS, accept loop, HTTP/1 framing, fast path, timeouts, limits | nothing of links |
//! | [`server`] | composes all of it: run, dispatch, routes, admin listener | everything but `cli` |
//! | [`cli`] | one subcommand a file | everything |

pub mod account;
mod api;
pub mod app;
pub mod cache;
pub mod cli;
pub mod clicks;
pub mod client_address;
pub mod clock;
pub mod code;
mod compat;
pub mod config;
pub mod egress;
pub mod entropy;
pub mod jobs;
pub mod limits;
pub mod link;
mod language;
pub mod net;
pub mod peers;
mod problem;
pub mod quota;
pub mod redirect;
pub mod redis;
pub mod server;
pub mod store;
mod sync;
pub mod telemetry;
pub mod web;
