//! What is done against abuse: targets that are turned away, links and people that are disabled, and
//! the log that says who did what.

mod block_list;
mod own_addresses;
