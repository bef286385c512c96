//! `kurz workspace host remove`: take a host from a workspace.

use super::WhichHost;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace host remove acme go.acme.example";

pub(super) fn run(args: &WhichHost) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    block_on(client.delete(&[workspaces, id, "hosts", &args.host]))?;
    print_line(&format!("removed {}", args.host))
}
