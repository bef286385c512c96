//! `kurz shorten`: make a link on a server, or get the one that it has for this URL.

use serde_json::{Value, json};

use super::Failure;
use super::arguments::{strategies, time, workspace};
use super::client::Client;
use super::lines::print_line;
use super::runtime::block_on;
use kurz_core::code::WorkspaceId;

const EXAMPLES: &str = "\
Examples:
  kurz shorten https://example.com/spring-sale
  kurz shorten https://example.com/spring-sale --workspace acme --code spring
  kurz shorten https://example.com/trial --expires-at 2026-12-31T23:59:59Z --tag ads --tag q4
  KURZ_URL=https://kurz.example KURZ_API_KEY=kurz_… kurz shorten https://example.com --json

KURZ_URL names the server (http://127.0.0.1:8080 if it is not set), KURZ_API_KEY the key to show.";

/// Make a short link and print it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Where the link should lead, with http:// or https://
    url: String,
    /// The workspace [default: main]
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = workspace)]
    workspace: Option<WorkspaceId>,
    /// A code of your choice: 3 to 64 letters, digits, dashes and underscores
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    code: Option<String>,
    /// A name for people
    #[arg(long, value_name = "T")]
    title: Option<String>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// How to make the code, if not as the workspace does
    #[arg(long, value_name = "S", value_parser = strategies(), conflicts_with = "code")]
    strategy: Option<String>,
    /// From when on it answers 410, like 2026-12-31T23:59:59Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires_at: Option<String>,
    /// How often it may be followed in a month; 0: any number of times
    #[arg(long, value_name = "N")]
    hit_limit: Option<u32>,
    /// How it redirects: 301, 302, 307 or 308 [default: 302]
    #[arg(long, value_name = "STATUS")]
    redirect_status: Option<u16>,
    /// Print the whole link as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let client = Client::from_environment()?;
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
pub(super) fn print_link(link: &Value, json: bool) -> Result<(), Failure> {
    match link.get("short_url").and_then(Value::as_str) {
        Some(short_url) if !json => print_line(short_url),
        _ => print_line(&link.to_string()),
    }
}

impl Args {
    fn body(&self) -> Value {
        let mut body = json!({
            "original_url": self.url,
            "custom_code": self.code,
            "title": self.title,
            "tags": self.tags,
            "strategy": self.strategy,
            "expires_at": self.expires_at,
            "hit_limit": self.hit_limit,
            "redirect_status": self.redirect_status,
        });
        if let Value::Object(fields) = &mut body {
            fields.retain(|_, value| !value.is_null());
        }
        body
    }
}
