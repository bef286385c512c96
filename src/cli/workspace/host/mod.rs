//! `kurz workspace host`: the host names that a workspace's links answer on, one subcommand a file.

mod add;
mod list;
mod remove;

use clap::Subcommand;

use super::{ShowArgs, WhichWorkspace};
use crate::cli::{CliError, arguments};

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz workspace host add acme go.acme.example
  kurz workspace host list acme
  kurz workspace host remove acme go.acme.example";

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Command {
    /// Give a host to a workspace; its links answer there from then on
    #[command(after_help = add::EXAMPLES)]
    Add(WhichHost),
    /// List the hosts of a workspace
    #[command(after_help = list::EXAMPLES)]
    List(ShowArgs),
    /// Take a host from a workspace; its links go on at their other addresses
    #[command(after_help = remove::EXAMPLES)]
    Remove(WhichHost),
}

pub(super) fn run(command: &Command) -> Result<(), CliError> {
    match command {
        Command::Add(which) => add::run(which),
        Command::List(args) => list::run(args),
        Command::Remove(which) => remove::run(which),
    }
}

/// A host of a workspace.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct WhichHost {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// The host's name, without a port
    #[arg(value_parser = arguments::host)]
    host: String,
}
