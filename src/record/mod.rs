//! Redirects leave the request here. Each worker drops a small record of every answered request into
//! a bounded lane of its own; a writer takes them a few times a second, adds them up by link and hour,
//! makes them safe in one write, and adds them to the store's tables, at once while they are few, in
//! larger parts while they are many. The hits that limits go by are counted in each link's [`Cell`].
//!
//! Invariants: a redirect never waits for a write. A count is never dropped: when a lane is full the
//! details are, and the click is summed up apart; what could not be written stays and is tried
//! again.

pub mod book;
mod cell;
mod cells;
mod click;
mod entry;
mod lane;
mod recorder;

pub use cell::Cell;
pub use click::{Click, Visitor};
pub use entry::{Entry, Face, Head};
pub use lane::Lane;
pub use recorder::{EVERY, Recorder};
