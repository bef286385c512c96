//! `kurz workspace create`: make a workspace.

use serde_json::{Value, json};

use super::{WhichWorkspace, print_workspace};
use crate::cli::CliError;
use crate::cli::arguments::strategies;
use crate::cli::client::ApiClient;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz workspace create acme
  kurz workspace create bulk --strategy counter --hit-limit 0";

/// Make a workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// How its links get their codes [default: deterministic]
    #[arg(long, value_name = "S", value_parser = strategies())]
    strategy: Option<String>,
    /// How often each of its links may be followed in a month; 0: any number of times
    #[arg(long, value_name = "N")]
    hit_limit: Option<u32>,
    /// Print the workspace as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let mut body = json!({
        "id": args.workspace.id.as_str(),
        "strategy": args.strategy,
        "hit_limit": args.hit_limit,
    });
    if let Value::Object(fields) = &mut body {
        fields.retain(|_, value| !value.is_null());
    }
    let workspace = block_on(client.post(&["workspaces"], Some(body)))?;
    print_workspace(&workspace, args.json)
}
