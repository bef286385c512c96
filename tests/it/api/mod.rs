//! The native API, one area a file, on both databases where a database has a say.

mod bulk;
mod create;
mod document;
mod edit;
mod health;
mod hosts;
mod input;
mod list;
mod messages;
mod revive;
mod workspaces;
