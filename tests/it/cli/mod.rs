//! The subcommands, run as a user runs them.

mod client;
mod doctor;
mod offline;
mod store;
