//! `kurz tags`: list, rename and delete the tags of a workspace's links.

use clap::Subcommand;
use serde_json::json;

use super::CliError;
use super::arguments::InWorkspace;
use super::client::ApiClient;
use super::lines::print_line;
use super::pages::{Extent, List};
use super::runtime::block_on;

pub(super) const EXAMPLES: &str = "\
Examples:
  kurz tags list --workspace acme
  kurz tags rename ads advertising --workspace acme
  kurz tags delete ads --workspace acme";

const COLUMNS: &[(&str, &str)] = &[("TAG", "tag"), ("LINKS", "links"), ("CLICKS", "clicks")];

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the tags, with the links and clicks that they have
    List(ListArgs),
    /// Give a tag another name on all links
    Rename(RenameArgs),
    /// Take a tag from all links; the links stay
    Delete(DeleteArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    #[command(flatten)]
    place: InWorkspace,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RenameArgs {
    #[command(flatten)]
    place: InWorkspace,
    /// The tag
    tag: String,
    /// Its new name
    name: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    place: InWorkspace,
    /// The tag
    tag: String,
}

pub(super) fn run(command: &Command) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    match command {
        Command::List(args) => {
            let list = List {
                path: &["workspaces", args.place.workspace.as_str(), "tags"],
                query: vec![("stats", "true".to_owned())],
                items: "tags",
                columns: COLUMNS,
            };
            block_on(list.print(&client, &args.extent))
        }
        Command::Rename(args) => {
            let path = ["workspaces", args.place.workspace.as_str(), "tags", &args.tag];
            block_on(client.patch(&path, json!({ "name": args.name })))?;
            print_line(&format!("renamed {} to {}", args.tag, args.name))
        }
        Command::Delete(args) => {
            let path = ["workspaces", args.place.workspace.as_str(), "tags", &args.tag];
            block_on(client.delete(&path))?;
            print_line(&format!("deleted {}", args.tag))
        }
    }
}
