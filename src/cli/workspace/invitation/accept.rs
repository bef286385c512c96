//! `kurz workspace invitation accept`: become a member of a workspace.

use serde_json::Value;

use super::WhichInvitation;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz workspace invitation accept 7
  kurz workspace invitation accept 'https://kurz.example/app/invitation?token=…'";

pub(super) fn run(which: &WhichInvitation) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let joined = block_on(client.post(&["me", "invitations", "accept"], Some(which.body())))?;
    let text = |name| joined.get(name).and_then(Value::as_str).unwrap_or_default();
    print_line(&format!("{} of {}", text("role"), text("workspace")))
}
