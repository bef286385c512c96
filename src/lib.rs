//! kurz: a URL shortener.
pub mod clock;
pub mod entropy;
