//! `kurz canon`: the canonical form of a URL, offline. Not whether a server would take the URL: it
//! may refuse private targets, for one.
//!
//! Invariant: an argument and a line of stdin get the same answer.

use serde_json::Value;

use super::error::{CliError, InputError};
use super::lines;
use kurz_core::code::canonicalise;

const EXAMPLES: &str = r#"Examples:
  kurz canon 'HTTP://Example.com:80//a/../b?z=1&a=2#top'
  echo '"http://example.com/%7Euser/"' | kurz canon --stdin

With --stdin each line is a JSON string; each line out is {"ok":"…"} or {"error":"code"}."#;

/// Print the canonical form of a URL: two URLs with the same form are the same URL.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The URL, with http:// or https://.
    #[arg(required_unless_present = "stdin")]
    url: Option<String>,
    /// Read one JSON string per line from stdin instead.
    #[arg(long, conflicts_with = "url")]
    stdin: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    match &args.url {
        Some(url) => lines::print_line(&canon(url)?),
        None => lines::answer_stdin(|line| canon(&url_of(line)?)),
    }
}

fn canon(url: &str) -> Result<String, InputError> {
    let canonical = canonicalise(url).map_err(|error| InputError::of_url(error, url))?;
    Ok(canonical.into_string())
}

/// The URL that a JSON value must be; null is none.
pub(super) fn url_of(value: Value) -> Result<String, InputError> {
    match value {
        Value::String(url) => Ok(url),
        _ => Err(InputError::new("url-not-text", "The URL is not text: write a JSON string.")),
    }
}
