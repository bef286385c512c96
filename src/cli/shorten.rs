//! `kurz shorten`: make a link on a server, or get the one that it has for this URL.

use serde_json::{Value, json};

use super::CliError;
use super::arguments::{strategies, target, workspace};
use super::client::ApiClient;
use super::lines::print_line;
use super::links::fields::NewFields;
use super::runtime::block_on;
use kurz_core::code::WorkspaceId;

const EXAMPLES: &str = "\
Examples:
  kurz shorten https://example.com/spring-sale
  kurz shorten https://example.com/spring-sale --workspace acme --code spring
  kurz shorten example.com/trial --expires-at 7d --tag ads --tag q4
  KURZ_URL=https://kurz.example KURZ_API_KEY=kurz_… kurz shorten https://example.com --json

KURZ_URL names the server (http://127.0.0.1:8080 if it is not set), KURZ_API_KEY the API key, and
KURZ_TLS_CA the certificate authority of a server with a private one.";

/// Create a short link and print it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The target; https:// unless it says otherwise
    url: String,
    /// The workspace [default: main]
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = workspace)]
    workspace: Option<WorkspaceId>,
    /// A custom code: 3 to 64 letters, digits, dashes and underscores
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    code: Option<String>,
    /// Type of code [default: the workspace's strategy]
    #[arg(long, value_name = "S", value_parser = strategies(), conflicts_with = "code")]
    strategy: Option<String>,
    #[command(flatten)]
    fields: NewFields,
    /// Print the whole link as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let client = ApiClient::from_environment()?;
    let link = block_on(async {
        match &args.workspace {
            Some(workspace) => {
                let path = ["workspaces", workspace.as_str(), "links"];
                client.post(&path, Some(args.body())).await
            }
            None => client.post(&["links"], Some(args.body())).await,
        }
    })?;
    print_link(&link, args.json)
}

/// The short URL, or the whole link.
pub(super) fn print_link(link: &Value, json: bool) -> Result<(), CliError> {
    match link.get("short_url").and_then(Value::as_str) {
        Some(short_url) if !json => print_line(short_url),
        _ => print_line(&link.to_string()),
    }
}

impl Args {
    fn body(&self) -> Value {
        let mut body = self.fields.body();
        body.insert("original_url".to_owned(), json!(target(&self.url)));
        for (name, value) in [("custom_code", &self.code), ("strategy", &self.strategy)] {
            if let Some(value) = value {
                body.insert(name.to_owned(), json!(value));
            }
        }
        Value::Object(body)
    }
}
