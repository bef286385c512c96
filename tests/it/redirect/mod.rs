//! What a visitor of a short address gets, on both databases.

mod addresses;
mod answers;
mod expiry;
