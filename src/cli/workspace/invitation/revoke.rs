//! `kurz workspace invitation revoke`: take an invitation back.

use super::WhichWorkspace;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Example:
  kurz workspace invitation revoke acme 7";

/// Revoke an invitation; its link no longer works
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// The invitation's number
    #[arg(value_name = "ID")]
    invitation: i64,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, workspace] = args.workspace.path();
    let id = args.invitation.to_string();
    block_on(client.delete(&[workspaces, workspace, "invitations", &id]))?;
    print_line(&format!("revoked {id}"))
}
