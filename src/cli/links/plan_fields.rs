//! The options of `kurz links edit` for rules and the other settings of a plan.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::CliError;
use crate::cli::arguments::time;

/// The most bytes of a file of rules.
const MOST: u64 = 64 << 10;

/// Options that change the plan of a link. Each belongs to the group `change`, of which one is required.
#[derive(Debug, clap::Args)]
pub(super) struct PlanFields {
    /// Replace the rules by those of a JSON file; - reads standard input. An object sets all fields that it has
    #[arg(long, value_name = "FILE", group = "change")]
    rules: Option<PathBuf>,
    /// Remove the rules
    #[arg(long, group = "change", conflicts_with = "rules")]
    no_rules: bool,
    /// Ask visitors for this password
    #[arg(long, value_name = "PASSWORD", group = "change")]
    password: Option<String>,
    /// Ask for no password
    #[arg(long, group = "change", conflicts_with = "password")]
    no_password: bool,
    /// From when on it redirects: 2026-12-31T23:59:59Z or 7d (from now)
    #[arg(long, value_name = "TIME", value_parser = time, group = "change")]
    valid_from: Option<String>,
    /// Maximum number of visits in its whole life; 0: no limit
    #[arg(long, value_name = "N", group = "change")]
    click_limit: Option<u64>,
    /// Where visitors go once it has expired or is used up; an empty text removes it
    #[arg(long, value_name = "URL", group = "change")]
    expired_url: Option<String>,
    /// Where visitors go before --valid-from; an empty text removes it
    #[arg(long, value_name = "URL", group = "change")]
    pending_url: Option<String>,
    /// Where visitors go while the target is down; an empty text removes it
    #[arg(long, value_name = "URL", group = "change")]
    fallback_url: Option<String>,
    /// What becomes of the query of a request: drop or merge
    #[arg(long, value_name = "MODE", group = "change")]
    query: Option<String>,
    /// Whether search engines may list it: noindex or index
    #[arg(long, value_name = "MODE", group = "change")]
    robots: Option<String>,
}

impl PlanFields {
    /// Add the fields that are named, as the API takes them.
    pub(super) fn add_to(&self, body: &mut Map<String, Value>) -> Result<(), CliError> {
        if let Some(file) = &self.rules {
            match read_rules(file)? {
                Value::Object(fields) => body.extend(fields),
                rules => drop(body.insert("rules".to_owned(), rules)),
            }
        }
        let url = |url: &Option<String>| {
            url.as_ref().map(|url| if url.is_empty() { Value::Null } else { json!(url) })
        };
        let password = self.password.as_ref().map(|password| json!(password));
        for (name, value) in [
            ("rules", self.no_rules.then_some(Value::Null)),
            ("password", password.or(self.no_password.then_some(Value::Null))),
            ("valid_from", self.valid_from.as_ref().map(|time| json!(time))),
            ("click_limit", self.click_limit.map(|limit| json!(limit))),
            ("expired_url", url(&self.expired_url)),
            ("pending_url", url(&self.pending_url)),
            ("fallback_url", url(&self.fallback_url)),
            ("query", self.query.as_ref().map(|mode| json!(mode))),
            ("robots", self.robots.as_ref().map(|mode| json!(mode))),
        ] {
            if let Some(value) = value {
                body.insert(name.to_owned(), value);
            }
        }
        Ok(())
    }
}

/// The JSON of a file, or of standard input.
pub(super) fn read_rules(file: &Path) -> Result<Value, CliError> {
    let failed = |error: &std::io::Error| CliError::reading(&file.display().to_string(), error);
    let mut text = String::new();
    if file.as_os_str() == "-" {
        let input = std::io::stdin().lock();
        input.take(MOST).read_to_string(&mut text).map_err(|error| failed(&error))?;
    } else {
        let input = std::fs::File::open(file).map_err(|error| failed(&error))?;
        input.take(MOST).read_to_string(&mut text).map_err(|error| failed(&error))?;
    }
    serde_json::from_str(&text)
        .map_err(|error| CliError::Refused(format!("{} is not JSON: {error}.", file.display())))
}
