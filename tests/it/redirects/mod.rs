//! What a visitor of a short address gets, on both databases.

mod addresses;
mod answers;
mod changes;
mod counts;
mod crowd;
mod losses;
mod quota;
mod rounds;
