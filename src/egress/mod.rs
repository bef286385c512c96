//! The only door to places that users name: whether a target still answers. It decides neither when
//! to look nor what becomes of the result, and it knows nothing of links.
//!
//! Invariant: no connection is ever attempted to an address that was not vetted, and the address
//! that was vetted is the one that is dialled. Each file keeps one part of that promise:
//!
//! - [`address`]: which addresses are nobody's business. [`Vetted`] has no other maker.
//! - `destination`: what of a URL may be visited: http and https, ports 80 and 443, no credentials.
//! - [`net`]: looking up and dialling, as a trait; it takes a [`Vetted`] address, nothing else.
//! - `tls`: host is believed. `ask`: one request, and no more of the answer than its head.
//! - `pacing`: one visit to a host at a time, and few in all.
//! - [`check`]: all of it together, at most three redirects far and five seconds long.

pub mod address;
mod ask;
pub mod check;
pub mod net;
mod pacing;
mod destination;
#[cfg(test)]
mod tests;
mod tls;

pub use address::Vetted;
pub use check::{Checker, Health};
pub use net::{Dialled, Internet, Lookup, Net};
