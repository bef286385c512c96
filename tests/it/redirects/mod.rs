//! What a visitor of a short address gets, on both databases.

mod addresses;
mod answers;
mod changes;
mod click_log;
mod counts;
mod crowd;
mod express;
mod losses;
mod quota;
mod rounds;
