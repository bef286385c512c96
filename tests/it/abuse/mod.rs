//! What is done against abuse: targets that are turned away, links and people that are disabled, and
//! the log that says who did what.

mod audit;
mod block_list;
mod disabled;
mod hosts;
mod own_addresses;
