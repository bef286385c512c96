//! `kurz workspace invitation create`: invite somebody into a workspace.

use serde_json::{Value, json};

use super::WhichWorkspace;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Example:
  kurz workspace invitation create acme bob@example.com --role admin

Whoever opens the link can accept: send it to that person only. It is shown only once.";

/// Invite somebody into a workspace, for 7 days; prints the link to send to them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// The person's email address
    email: String,
    /// What they may do once they accepted: viewer, member or admin
    #[arg(long, default_value = "member", value_parser = ["viewer", "member", "admin"])]
    role: String,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let body = json!({ "email": args.email, "role": args.role });
    let invited = block_on(client.post(&[workspaces, id, "invitations"], Some(body)))?;
    print_line(invited.get("url").and_then(Value::as_str).unwrap_or_default())
}
