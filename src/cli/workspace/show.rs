//! `kurz workspace show`: one workspace and its hosts.

use super::{WhichWorkspace, print_workspace};
use crate::cli::Failure;
use crate::cli::client::Client;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz workspace show acme
  kurz workspace show acme --json";

/// Show one workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// Print the workspace as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
    let workspace = block_on(client.get(&args.workspace.path()))?;
    print_workspace(&workspace, args.json)
}
