//! `kurz workspace host check`: look for the proof of a pending host now.

use super::WhichHost;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace host check acme go.acme.example

The exit code is 2 when no proof is found; the message says what was there instead. A new DNS record can take
some minutes to be seen.";

pub(super) fn run(args: &WhichHost) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    block_on(client.post(&[workspaces, id, "hosts", &args.host, "check"], None))?;
    print_line(&format!("{} is active", args.host))
}
