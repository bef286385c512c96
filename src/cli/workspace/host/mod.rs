//! `kurz workspace host`: the host names that a workspace's links answer on, one subcommand a file.

mod add;
mod approve;
mod check;
mod edit;
mod list;
mod remove;

use clap::Subcommand;

use super::{ShowArgs, WhichWorkspace};
use crate::cli::{CliError, arguments};

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz workspace host add acme go.acme.example
  kurz workspace host check acme go.acme.example
  kurz workspace host list acme
  kurz workspace host remove acme go.acme.example";

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Command {
    /// Name a host for a workspace; its links work there once it is proven
    #[command(after_help = add::EXAMPLES)]
    Add(WhichHost),
    /// Look for the proof of a pending host; once it is found, links work there
    #[command(after_help = check::EXAMPLES)]
    Check(WhichHost),
    /// Consent to a pending host without a proof, as an administrator of the server
    #[command(after_help = approve::EXAMPLES)]
    Approve(WhichHost),
    /// Change where `/`, unknown codes and other paths of a host lead
    Edit(edit::Args),
    /// List the hosts of a workspace
    #[command(after_help = list::EXAMPLES)]
    List(ShowArgs),
    /// Remove a host from a workspace; its links keep their other addresses
    #[command(after_help = remove::EXAMPLES)]
    Remove(WhichHost),
}

pub(super) fn run(command: &Command) -> Result<(), CliError> {
    match command {
        Command::Add(which) => add::run(which),
        Command::Check(which) => check::run(which),
        Command::Approve(which) => approve::run(which),
        Command::Edit(args) => edit::run(args),
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
