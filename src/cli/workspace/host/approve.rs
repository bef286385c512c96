//! `kurz workspace host approve`: consent to a pending host, as an administrator of the server.

use super::WhichHost;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace host approve acme go.acme.example";

pub(super) fn run(args: &WhichHost) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    block_on(client.post(&[workspaces, id, "hosts", &args.host, "approve"], None))?;
    print_line(&format!("{} is active", args.host))
}
