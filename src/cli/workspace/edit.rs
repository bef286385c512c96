//! `kurz workspace edit`: change how a workspace makes codes and how often its links may be followed.

use clap::ArgGroup;
use serde_json::{Map, Value, json};

use super::{WhichWorkspace, print_workspace};
use crate::cli::CliError;
use crate::cli::arguments::strategies;
use crate::cli::client::ApiClient;
use crate::cli::runtime::block_on;

const EXAMPLES: &str = "\
Examples:
  kurz workspace edit acme --strategy random
  kurz workspace edit acme --hit-limit 50000
  kurz workspace edit acme --default-hit-limit";

/// Change a workspace; codes that exist stay
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("change").required(true).multiple(true))]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    workspace: WhichWorkspace,
    /// How its new links get their codes
    #[arg(long, value_name = "S", value_parser = strategies(), group = "change")]
    strategy: Option<String>,
    /// How often each of its links may be followed in a month; 0: any number of times
    #[arg(long, value_name = "N", group = "change")]
    hit_limit: Option<u32>,
    /// As often as the server says
    #[arg(long, group = "change", conflicts_with = "hit_limit")]
    default_hit_limit: bool,
    /// Print the workspace as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let mut body = Map::new();
    if let Some(strategy) = &args.strategy {
        body.insert("strategy".to_owned(), json!(strategy));
    }
    if args.hit_limit.is_some() || args.default_hit_limit {
        body.insert("hit_limit".to_owned(), json!(args.hit_limit));
    }
    let workspace = block_on(client.patch(&args.workspace.path(), Value::Object(body)))?;
    print_workspace(&workspace, args.json)
}
