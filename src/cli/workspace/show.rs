//! `kurz workspace show`: one workspace and its hosts.

use super::{ShowArgs, print_workspace};
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz workspace show acme
  kurz workspace show acme --json";

pub(super) fn run(args: &ShowArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let workspace = block_on(client.get(&args.workspace.path()))?;
    print_workspace(&workspace, args.json)
}
