//! `kurz workspace host edit`: where addresses of a host lead that are no link's.

use clap::ArgGroup;
use serde_json::{Map, Value, json};

use super::WhichHost;
use crate::cli::CliError;
use crate::cli::client::ApiClient;
use crate::cli::lines::{print_line, print_text};
use crate::cli::runtime::block_on;
use crate::cli::table::record;

const EXAMPLES: &str = "\
Examples:
  kurz workspace host edit acme go.acme.example --home-url https://acme.example/
  kurz workspace host edit acme go.acme.example --not-found-url '' --invalid-code-url ''";

const SHOWN: &[&str] =
    &["host", "status", "created_at", "home_url", "not_found_url", "invalid_code_url"];

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("change").required(true).multiple(true))]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    which: WhichHost,
    /// Where `/` leads; empty: to a page that says that there is nothing
    #[arg(long, value_name = "URL", group = "change")]
    home_url: Option<String>,
    /// Where unknown codes lead; empty: to a page that says so
    #[arg(long, value_name = "URL", group = "change")]
    not_found_url: Option<String>,
    /// Where paths lead that can be no code; empty: to a page that says so
    #[arg(long, value_name = "URL", group = "change")]
    invalid_code_url: Option<String>,
    /// Print the host as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let [workspaces, id] = args.which.workspace.path();
    let mut body = Map::new();
    for (name, url) in [
        ("home_url", &args.home_url),
        ("not_found_url", &args.not_found_url),
        ("invalid_code_url", &args.invalid_code_url),
    ] {
        if let Some(url) = url {
            let url = Some(url).filter(|url| !url.is_empty());
            body.insert(name.to_owned(), json!(url));
        }
    }
    let path = [workspaces, id, "hosts", &args.which.host];
    let host = block_on(client.patch(&path, Value::Object(body)))?;
    if args.json { print_line(&host.to_string()) } else { print_text(&record(&host, SHOWN)) }
}
