//! kurz: a URL shortener.
pub mod clock;
pub mod code;
pub mod entropy;
