//! `kurz workspace restore`: bring a deleted workspace back.

use super::{ShowArgs, print_workspace};
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace restore acme

It takes the key of an administrator of the server. Members and hosts must be added again.";

pub(super) fn run(args: &ShowArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let workspace = block_on(client.post(&[workspaces, id, "restore"], None))?;
    print_workspace(&workspace, args.json)
}
