//! `kurz workspace delete`: remove a workspace whose links are all deleted.

use super::WhichWorkspace;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Example:
  kurz workspace delete acme";

/// Delete a workspace; its links must have been deleted first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    block_on(client.delete(&args.workspace.path()))?;
    print_line(&format!("deleted {}", args.workspace.id))
}
