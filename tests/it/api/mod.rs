//! The native API, one area a file, on both databases where a database has a say.

mod bulk;
mod create;
mod document;
mod edit;
mod health;
mod hosts;
mod input;
mod link_fields;
mod list;
mod messages;
mod plans;
mod revive;
mod workspaces;
