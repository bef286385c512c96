//! `kurz links delete`: delete a link, restorable until it is purged.

use serde_json::Value;

use crate::cli::CliError;
use crate::cli::arguments::WhichLink;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz links delete promo --workspace acme
  kurz links restore promo --workspace acme        restores it";

/// Delete a link; it stops redirecting at once
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    link: WhichLink,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let link = block_on(client.delete(&named.path()))?;
    let code = args.link.code();
    // A server of an earlier version says nothing.
    match link.get("restorable_until").and_then(Value::as_str) {
        Some(until) => print_line(&format!("deleted {code}; it can be restored until {until}")),
        None => print_line(&format!("deleted {code}")),
    }
}
