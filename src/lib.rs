//! kurz: a URL shortener.
pub mod cli;
pub mod clock;
pub mod code;
pub mod config;
pub mod entropy;
