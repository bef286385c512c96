//! `kurz workspace host`: the host names that a workspace's links answer on, one subcommand a file.

mod add;
mod list;
mod remove;

use clap::Subcommand;

use crate::cli::Failure;

const EXAMPLES: &str = "\
Examples:
  kurz workspace host add acme go.acme.example
  kurz workspace host list acme
  kurz workspace host remove acme go.acme.example";

/// Add, list and remove the hosts of a workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(add::Args),
    List(list::Args),
    Remove(remove::Args),
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Add(args) => add::run(args),
        Command::List(args) => list::run(args),
        Command::Remove(args) => remove::run(args),
    }
}
