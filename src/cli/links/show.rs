//! `kurz links show`: everything about one link.

use crate::cli::CliError;
use crate::cli::arguments::WhichLink;
use crate::cli::client::ApiClient;
use crate::cli::lines::{print_line, print_text};
use crate::cli::links::fields::SHOWN;
use crate::cli::runtime::block_on;
use crate::cli::table::record;

const EXAMPLES: &str = "\
Examples:
  kurz links show promo --workspace acme
  kurz links show https://kurz.example/promo --json";

/// Show one link
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    link: WhichLink,
    /// Print the link as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let link = block_on(client.get(&named.path()))?;
    if args.json { print_line(&link.to_string()) } else { print_text(&record(&link, SHOWN)) }
}
