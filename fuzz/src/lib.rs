//! The pure parts of kurz that read what strangers send, compiled by themselves for the fuzz targets.
//!
//! Not the crate `kurz`: that would build servers and databases under the sanitizer for nothing.
//! Invariant: these files need neither; this would not compile otherwise.

#[path = "../../src/account/mod.rs"]
pub mod account;
#[path = "../../src/clock.rs"]
pub mod clock;
#[path = "../../src/code/mod.rs"]
pub mod code;
#[path = "../../src/config/mod.rs"]
pub mod config;
pub mod link;
pub mod clicks;
#[path = "../../src/redirect/visitor_kind.rs"]
pub mod visitor_kind;
#[path = "../../src/net/host.rs"]
pub mod host;
#[path = "../../src/web/links/csv_cell.rs"]
pub mod cell;
pub mod targets;
