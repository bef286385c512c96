//! `kurz workspace invitation decline`: stay out of a workspace.

use super::WhichInvitation;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_line;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace invitation decline 7";

pub(super) fn run(which: &WhichInvitation) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    block_on(client.post(&["me", "invitations", "decline"], Some(which.body())))?;
    print_line("declined")
}
