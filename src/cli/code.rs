//! `kurz code`: the deterministic code of a URL in a workspace, offline. Whether a server has given
//! that code to another URL, only the server knows: `--attempt` says how often it had.
//!
//! Invariant: an argument and a line of stdin get the same answer.

use serde_json::Value;

use super::canon::url_of;
use super::error::{CliError, InputError};
use super::lines;
use kurz_core::code::{WorkspaceId, canonicalise, deterministic};

const EXAMPLES: &str = r#"Examples:
  kurz code https://example.com/page --workspace acme
  kurz code https://example.com/page --workspace acme --attempt 1
  echo '{"url":"https://example.com/page","workspace":"acme"}' | kurz code --stdin

With --stdin each line is an object with "url", "workspace" and optionally "attempt"; other fields are
ignored. Each line out is {"ok":"code"} or {"error":"code"}."#;

/// Print the deterministic code of a URL in a workspace, without a server.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The URL, with http:// or https://.
    #[arg(required_unless_present = "stdin", requires = "workspace")]
    url: Option<String>,
    /// The workspace's id: 1 to 64 letters, digits, dashes and underscores.
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    workspace: Option<String>,
    /// The number of earlier codes of this URL that are taken.
    #[arg(long, value_name = "N", default_value_t = 0)]
    attempt: u32,
    /// Read one JSON object per line from stdin instead.
    #[arg(long, conflicts_with_all = ["url", "workspace", "attempt"])]
    stdin: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    match (&args.url, &args.workspace) {
        (Some(url), Some(workspace)) => lines::print_line(&code(url, workspace, args.attempt)?),
        _ => lines::answer_stdin(answer),
    }
}

fn code(url: &str, workspace: &str, attempt: u32) -> Result<String, InputError> {
    let canonical = canonicalise(url).map_err(|error| InputError::of_url(error, url))?;
    let workspace = WorkspaceId::parse(workspace).ok_or_else(workspace_invalid)?;
    Ok(deterministic::code(&canonical, &workspace, attempt).to_string())
}

fn answer(line: Value) -> Result<String, InputError> {
    let mut fields = lines::object(line)?;
    let mut take = |name| fields.remove(name).unwrap_or_default();
    let url = url_of(take("url"))?;
    let workspace = take("workspace");
    let attempt = match take("attempt") {
        Value::Null => 0,
        value => value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(attempt_invalid)?,
    };
    code(&url, workspace.as_str().ok_or_else(workspace_invalid)?, attempt)
}

fn workspace_invalid() -> InputError {
    InputError::new(
        "workspace-invalid",
        "The workspace is not an id: write 1 to 64 letters, digits, dashes and underscores.",
    )
}

fn attempt_invalid() -> InputError {
    InputError::new("attempt-invalid", "The attempt is not a count: write a whole number from 0.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_answered_with_its_code_or_the_reason() {
        let url = "https://example.com/page";
        let table = [
            (json!({"url": url, "workspace": "42"}), Ok("GA5c8932Ej")),
            (json!({"url": url, "workspace": "42", "attempt": 1}), Ok("TZ5Ze5djjx")),
            (json!({"url": url, "workspace": "42", "attempt": null, "id": 7}), Ok("GA5c8932Ej")),
            (json!({"url": "ftp://a", "workspace": "42"}), Err("url-scheme-not-allowed")),
            (json!({"url": null, "workspace": "42"}), Err("url-not-text")),
            (json!({"workspace": "42"}), Err("url-not-text")),
            (json!({"url": url}), Err("workspace-invalid")),
            (json!({"url": url, "workspace": ""}), Err("workspace-invalid")),
            (json!({"url": url, "workspace": 42}), Err("workspace-invalid")),
            (json!({"url": url, "workspace": "a|b"}), Err("workspace-invalid")),
            (json!({"url": url, "workspace": "42", "attempt": -1}), Err("attempt-invalid")),
            (json!({"url": url, "workspace": "42", "attempt": 0.5}), Err("attempt-invalid")),
            (json!([url, "42"]), Err("line-not-object")),
        ];
        for (line, expected) in table {
            let answer = answer(line.clone()).map_err(|refusal| refusal.code);
            assert_eq!(answer.as_deref(), expected.as_ref().copied(), "{line}");
        }
    }
}
