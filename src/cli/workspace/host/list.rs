//! `kurz workspace host list`: the hosts of a workspace, active ones first.

use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_text;
use crate::cli::pages::{json_lines, take_array};
use crate::cli::runtime::block_on;
use crate::cli::table::TextTable;
use crate::cli::workspace::ShowArgs;

pub(super) const EXAMPLES: &str = "\
Example:
  kurz workspace host list acme";

pub(super) fn run(args: &ShowArgs) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.workspace.path();
    let mut answer = block_on(client.get(&[workspaces, id, "hosts"]))?;
    let hosts = take_array(&mut answer, "hosts");
    if args.json {
        return print_text(&json_lines(&hosts));
    }
    let mut table =
        TextTable::new(&[("HOST", "host"), ("STATUS", "status"), ("SINCE", "created_at")]);
    print_text(&table.page(&hosts))
}
