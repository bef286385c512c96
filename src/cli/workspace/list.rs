//! `kurz workspace list`: the workspaces, by name.

use crate::cli::Failure;
use crate::cli::client::Client;
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
pub(super) struct Args {
    #[command(flatten)]
    extent: Extent,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
    let list =
        List { path: &["workspaces"], query: Vec::new(), items: "workspaces", columns: COLUMNS };
    block_on(list.print(&client, &args.extent))
}
