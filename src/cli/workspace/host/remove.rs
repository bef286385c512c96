//! `kurz workspace host remove`: take a host from a workspace.

use crate::cli::Failure;
use crate::cli::arguments;
use crate::cli::client::Client;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;
use crate::cli::workspace::WhichWorkspace;

const EXAMPLES: &str = "\
Example:
  kurz workspace host remove acme go.acme.example";

/// Remove a host from a workspace; its links keep their other addresses
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// The host's name
    #[arg(value_parser = arguments::host)]
    host: String,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    block_on(client.delete(&[workspaces, id, "hosts", &args.host]))?;
    print_line(&format!("removed {}", args.host))
}
