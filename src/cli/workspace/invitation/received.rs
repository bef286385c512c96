//! `kurz workspace invitation received`: the invitations for one's own address.

use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::print_text;
use crate::cli::pages::{json_lines, take_array};
use crate::cli::runtime::block_on;
use crate::cli::table::TextTable;

const EXAMPLES: &str = "\
Example:
  kurz workspace invitation received";

/// List the invitations for your own address that wait for an answer
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let mut answer = block_on(client.get(&["me", "invitations"]))?;
    let invitations = take_array(&mut answer, "invitations");
    if args.json {
        return print_text(&json_lines(&invitations));
    }
    let columns =
        &[("ID", "id"), ("WORKSPACE", "workspace"), ("ROLE", "role"), ("UNTIL", "expires_at")];
    print_text(&TextTable::new(columns).page(&invitations))
}
