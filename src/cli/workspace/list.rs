//! `kurz workspace list`: the workspaces, by name.

use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::pages::{Extent, List};
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz workspace list
  kurz workspace list --all --json";

const COLUMNS: &[(&str, &str)] = &[
    ("ID", "id"),
    ("STRATEGY", "strategy"),
    ("HIT LIMIT", "hit_limit"),
    ("CREATED", "created_at"),
    ("HOSTS", "hosts"),
];

/// List the workspaces
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    extent: Extent,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let list =
        List { path: &["workspaces"], query: Vec::new(), items: "workspaces", columns: COLUMNS };
    block_on(list.print(&client, &args.extent))
}
