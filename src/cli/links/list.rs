//! `kurz links list`: the links of a workspace, filtered and sorted.

use crate::cli::CliError;
use crate::cli::arguments::InWorkspace;
use crate::cli::client::ApiClient;
use crate::cli::pages::{Extent, List};
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz links list
  kurz links list --workspace acme --search spring --sort -redirect_count --limit 10
  kurz links list --status DELETED
  kurz links list --workspace acme --all --json > links.jsonl";

const COLUMNS: &[(&str, &str)] = &[
    ("CODE", "short_code"),
    ("STATUS", "status"),
    ("HITS", "redirect_count"),
    ("CREATED", "created_at"),
    ("TITLE", "title"),
    ("TARGET", "original_url"),
];

const SORT: &str = "created_at, updated_at, redirect_count or short_code; with - in front from the \
                    largest down [default: -created_at]";

/// List the links of a workspace
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    place: InWorkspace,
    /// Text in the code, the title, the target or the note
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only links with this status [default: all but deleted]
    #[arg(long, ignore_case = true, value_parser = ["ACTIVE", "EXPIRED", "DELETED", "DISABLED"])]
    status: Option<String>,
    /// Only links with this tag
    #[arg(long, value_name = "T")]
    tag: Option<String>,
    /// Archived links as well
    #[arg(long)]
    archived: bool,
    /// Archived links alone
    #[arg(long, conflicts_with = "archived")]
    only_archived: bool,
    #[arg(long, value_name = "FIELD", allow_hyphen_values = true, help = SORT)]
    sort: Option<String>,
    #[command(flatten)]
    extent: Extent,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let status = args.status.as_ref().map(|status| status.to_uppercase());
    let archived = match (args.archived, args.only_archived) {
        (_, true) => Some("only"),
        (true, false) => Some("true"),
        (false, false) => None,
    };
    let query = [
        ("q", args.search.clone()),
        ("status", status),
        ("tag", args.tag.clone()),
        ("archived", archived.map(str::to_owned)),
        ("sort", args.sort.clone()),
    ];
    let list = List {
        path: &["workspaces", args.place.workspace.as_str(), "links"],
        query: query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        items: "links",
        columns: COLUMNS,
    };
    block_on(list.print(&client, &args.extent))
}
