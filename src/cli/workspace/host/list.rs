//! `kurz workspace host list`: the hosts of a workspace, oldest first.

use crate::cli::Failure;
use crate::cli::client::Client;
use crate::cli::lines::print_text;
use crate::cli::pages::{json_lines, take_array};
use crate::cli::runtime::block_on;
use crate::cli::table::Table;
use crate::cli::workspace::WhichWorkspace;

const EXAMPLES: &str = "\
Example:
  kurz workspace host list acme";

/// List the hosts of a workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let mut answer = block_on(client.get(&[workspaces, id, "hosts"]))?;
    let hosts = take_array(&mut answer, "hosts");
    if args.json {
        return print_text(&json_lines(&hosts));
    }
    let mut table = Table::new(&[("HOST", "host"), ("SINCE", "created_at")]);
    print_text(&table.page(&hosts))
}
