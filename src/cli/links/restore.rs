//! `kurz links restore`: bring a deleted link back.

use crate::cli::CliError;
use crate::cli::arguments::WhichLink;
use crate::cli::client::ApiClient;
use crate::cli::runtime::block_on;
use crate::cli::shorten::print_link;

const EXAMPLES: &str = "\
Examples:
  kurz links list --status DELETED
  kurz links restore promo --workspace acme";

/// Restore a deleted link
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    link: WhichLink,
    /// Print the whole link as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let [workspaces, workspace, links, code] = named.path();
    let path = [workspaces, workspace, links, code, "restore"];
    let link = block_on(client.post(&path, None))?;
    print_link(&link, args.json)
}
