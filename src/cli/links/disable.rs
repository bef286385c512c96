//! `kurz links disable` and `enable`: withhold a link, and let it go. Takes an administrator's key.

use serde_json::json;

use crate::cli::CliError;
use crate::cli::arguments::WhichLink;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;
use kurz_core::link::Reason;

const EXAMPLES: &str = "\
Examples:
  kurz links disable promo --reason phishing
  kurz links disable promo --workspace acme --reason legal --note 'see our letter of 3 May'
  kurz links enable promo";

/// Disable a link: visitors get 410 with the reason; needs an administrator's key
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DisableArgs {
    #[command(flatten)]
    link: WhichLink,
    /// The reason; visitors see it
    #[arg(long, value_parser = Reason::CHOICES.map(Reason::as_str), default_value = "abuse")]
    reason: String,
    /// A note for the link's owner
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Enable a disabled link; needs an administrator's key
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EnableArgs {
    #[command(flatten)]
    link: WhichLink,
}

pub(super) fn disable(args: &DisableArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let [workspaces, workspace, links, code] = named.path();
    let path = [workspaces, workspace, links, code, "disable"];
    let body = json!({ "reason": args.reason, "note": args.note });
    block_on(client.post(&path, Some(body)))?;
    print_line(&format!("disabled {}", args.link.code()))
}

pub(super) fn enable(args: &EnableArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let named = args.link.located(&client)?;
    let [workspaces, workspace, links, code] = named.path();
    let path = [workspaces, workspace, links, code, "enable"];
    block_on(client.post(&path, None))?;
    print_line(&format!("enabled {}", args.link.code()))
}
