//! Redirects leave the request here: each link has a [`Cell`] in memory that a hit adds to without
//! a lock, and a writer that adds what gathered to the store, by time and at shutdown.
//!
//! Invariants: a redirect never waits for a write; a count is never dropped: what could not be
//! written goes back into its cell and is tried again.

mod cell;
mod recorder;

pub use cell::Cell;
pub use recorder::Recorder;
