//! `kurz workspace host add`: give a host to a workspace.

use serde_json::{Value, json};

use super::WhichHost;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace host add acme go.acme.example

Point the host's DNS at the server; links of the workspace then answer at https://HOST/CODE.";

pub(super) fn run(args: &WhichHost) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let body = json!({ "host": args.host });
    let host = block_on(client.post(&[workspaces, id, "hosts"], Some(body)))?;
    print_line(host.get("host").and_then(Value::as_str).unwrap_or(&args.host))
}
