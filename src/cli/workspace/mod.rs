//! `kurz workspace`: teams' own sets of codes on a server, one subcommand a file.

mod create;
mod delete;
mod edit;
mod host;
mod invitation;
mod list;
mod restore;
mod show;

use clap::Subcommand;
use serde_json::Value;

use super::CliError;
use super::arguments;
use super::lines::{print_line, print_text};
use super::table::record;
use kurz_core::code::WorkspaceId;

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz workspace create acme
  kurz workspace host add acme go.acme.example
  kurz workspace list

KURZ_URL names the server (http://127.0.0.1:8080 if it is not set), KURZ_API_KEY the API key.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Create(create::Args),
    List(list::Args),
    /// Show one workspace
    #[command(after_help = show::EXAMPLES)]
    Show(ShowArgs),
    Edit(edit::Args),
    Delete(delete::Args),
    /// Restore a deleted workspace, as an administrator of the server
    #[command(after_help = restore::EXAMPLES)]
    Restore(ShowArgs),
    /// Add, list and remove the hosts of a workspace
    #[command(subcommand, after_help = host::EXAMPLES)]
    Host(host::Command),
    /// Invite people into a workspace, and answer invitations
    #[command(subcommand, after_help = invitation::EXAMPLES)]
    Invitation(invitation::Command),
}

pub(super) fn run(command: &Command) -> Result<(), CliError> {
    match command {
        Command::Create(args) => create::run(args),
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Edit(args) => edit::run(args),
        Command::Delete(args) => delete::run(args),
        Command::Restore(args) => restore::run(args),
        Command::Host(command) => host::run(command),
        Command::Invitation(command) => invitation::run(command),
    }
}

/// One workspace, to be shown.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// One workspace, by its id.
#[derive(Debug, clap::Args)]
struct WhichWorkspace {
    /// The workspace's id: 1 to 64 letters, digits, dashes and underscores
    #[arg(value_name = "WORKSPACE", value_parser = arguments::workspace)]
    id: WorkspaceId,
}

impl WhichWorkspace {
    /// Where the API keeps it.
    fn path(&self) -> [&str; 2] {
        ["workspaces", self.id.as_str()]
    }
}

fn print_workspace(workspace: &Value, json: bool) -> Result<(), CliError> {
    if json {
        return print_line(&workspace.to_string());
    }
    let fields = ["id", "strategy", "hit_limit", "hosts", "created_at", "updated_at"];
    print_text(&record(workspace, &fields))
}
