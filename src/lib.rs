//! kurz: a URL shortener. This page is the map of the code; `docs/ARCHITECTURE.md` walks through
//! it.
//!
//! | module | what it holds | knows |
//! |---|---|---|
//! | [`kurz_core`] | everything without I/O: codes, links, accounts, limits, the rules of quotas and clicks | nothing: a library of its own |
//! | [`clock`], [`entropy`] | the only readers of time and randomness | nothing |
//! | [`client_address`] | where a request comes from, through trusted proxies | nothing |
//! | [`throttle`] | serves requests over a rate limit a few at a time | nothing |
//! | [`config`] | every setting: default, bounds, words | `kurz_core` |
//! | [`store`] | the only SQL: SQLite and PostgreSQL | `kurz_core`, `config` |
//! | [`redis`], [`peers`] | Redis; what instances say to each other | `store`, `config` |
//! | [`quota`], [`clicks`] | the quota across instances; the writer of clicks | `store`, `kurz_core` |
//! | [`cache`] | links and hosts in memory | `store`, `clicks`, `quota` |
//! | [`redirect`] | the data plane: address → answer | `cache`, `clicks`, `quota`; never `store` |
//! | [`egress`] | the only door to places that users name | nothing |
//! | [`app`] | what kurz does, whoever asks | all of the above but `redirect` |
//! | [`api`], [`dialects`], [`web`] | the control plane: JSON, older shapes of it, pages | `app` |
//! | `problem` | every error as it leaves the house | `app` |
//! | [`jobs`] | work beside the requests | `app` |
//! | [`net`] | sockets, TLS, accept loop, HTTP/1 framing, fast path, timeouts, limits | nothing of links |
//! | [`server`] | composes all of it: run, dispatch, routes, admin listener | everything but `cli` |
//! | [`cli`] | one subcommand a file | everything |

pub mod api;
pub mod app;
pub mod cache;
pub mod cli;
pub mod clicks;
pub mod client_address;
pub mod clock;
pub mod config;
pub mod dialects;
pub mod egress;
pub mod entropy;
pub mod jobs;
pub mod net;
pub mod peers;
mod problem;
pub mod quota;
pub mod redirect;
pub mod redis;
pub mod server;
pub mod store;
pub mod throttle;
pub mod web;
