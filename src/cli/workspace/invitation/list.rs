//! `kurz workspace invitation list`: the invitations of a workspace that wait for an answer.

use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_text;
use crate::cli::pages::{json_lines, take_array};
use crate::cli::runtime::block_on;
use crate::cli::table::TextTable;
use crate::cli::workspace::ShowArgs;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace invitation list acme";

pub(super) fn run(args: &ShowArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let mut answer = block_on(client.get(&[workspaces, id, "invitations"]))?;
    let invitations = take_array(&mut answer, "invitations");
    if args.json {
        return print_text(&json_lines(&invitations));
    }
    let columns = &[("ID", "id"), ("EMAIL", "email"), ("ROLE", "role"), ("UNTIL", "expires_at")];
    print_text(&TextTable::new(columns).page(&invitations))
}
