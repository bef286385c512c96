//! `kurz workspace host add`: give a host to a workspace.

use serde_json::{Value, json};

use crate::cli::Failure;
use crate::cli::arguments;
use crate::cli::client::Client;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;
use crate::cli::workspace::WhichWorkspace;

const EXAMPLES: &str = "\
Example:
  kurz workspace host add acme go.acme.example

Point the host's DNS at the server; links of the workspace then work at https://HOST/CODE.";

/// Add a host to a workspace; its links then work there too
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// The host's name, without a port
    #[arg(value_parser = arguments::host)]
    host: String,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let body = json!({ "host": args.host });
    let host = block_on(client.post(&[workspaces, id, "hosts"], Some(body)))?;
    print_line(host.get("host").and_then(Value::as_str).unwrap_or(&args.host))
}
