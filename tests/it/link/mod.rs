//! What a link may lead to.

mod blocklist;
mod own;
mod target;
