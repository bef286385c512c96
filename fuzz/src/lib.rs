//! The pure folder `code`, compiled by itself for the fuzz targets.
//!
//! Not the crate `kurz`: that would build servers and databases under the sanitizer for nothing.
//! Invariant: `code` needs neither; this would not compile otherwise.

#[path = "../../src/code/mod.rs"]
pub mod code;
