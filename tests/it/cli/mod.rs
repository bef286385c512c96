//! The subcommands, run as a user runs them.

mod client;
mod doctor;
mod first_contact;
mod offline;
mod store;
