//! `kurz links alias` and `unalias`: further codes of a link.

use serde_json::json;

use crate::cli::CliError;
use crate::cli::arguments::WhichLink;
use crate::cli::client::ApiClient;
use crate::cli::runtime::block_on;
use crate::cli::shorten::print_link;

const EXAMPLES: &str = "\
Examples:
  kurz links alias promo spring --workspace acme
  kurz links unalias promo spring --workspace acme";

/// Give a link a further code
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AliasArgs {
    #[command(flatten)]
    link: WhichLink,
    /// The further code
    #[arg(value_name = "ALIAS")]
    alias: String,
    /// Print the whole link as JSON
    #[arg(long)]
    json: bool,
}

/// Remove an alias; no other link ever gets the code
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UnaliasArgs {
    #[command(flatten)]
    link: WhichLink,
    /// The code to remove
    #[arg(value_name = "ALIAS")]
    alias: String,
}

pub(super) fn alias(args: &AliasArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let [workspaces, workspace, links, code] = named.path();
    let path = [workspaces, workspace, links, code, "aliases"];
    let link = block_on(client.post(&path, Some(json!({ "code": args.alias }))))?;
    print_link(&link, args.json)
}

pub(super) fn unalias(args: &UnaliasArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let [workspaces, workspace, links, code] = named.path();
    block_on(client.delete(&[workspaces, workspace, links, code, "aliases", &args.alias]))?;
    Ok(())
}
