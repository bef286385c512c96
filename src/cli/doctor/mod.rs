//! `kurz doctor`: looks at everything a server needs, changes nothing, and says for each finding
//! what to do. One kind of check a file.

mod clickhouse;
mod clock;
mod events;
mod folder;
mod ports;
mod redis;
mod settings;
mod store;

use std::fmt;

use serde::Serialize;

use super::CliError;
use super::error::sentence;
use super::lines::print_line;
use super::runtime::block_on;
use super::settings::Settings;
use crate::clock::Clock;
use crate::config::Config;

const EXAMPLES: &str = "\
Examples:
  kurz doctor
  kurz doctor --store postgres://kurz@db/kurz
  kurz doctor --json

Each line is a finding: ok, warning (it works, but check it) or problem (it will not work). The exit
code is 1 when there is a problem. Nothing is changed: the store is not even migrated.";

/// Check configuration, store, Redis, ClickHouse, disk, clock and ports, and say what to do
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    settings: Settings,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    Warning,
    Problem,
}

/// What was looked at and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    level: Level,
    check: &'static str,
    detail: String,
}

impl Finding {
    fn new(level: Level, check: &'static str, detail: impl fmt::Display) -> Self {
        Self { level, check, detail: sentence(&detail.to_string()) }
    }

    fn ok(check: &'static str, detail: impl fmt::Display) -> Self {
        Self::new(Level::Ok, check, detail)
    }

    fn warning(check: &'static str, detail: impl fmt::Display) -> Self {
        Self::new(Level::Warning, check, detail)
    }

    fn problem(check: &'static str, detail: impl fmt::Display) -> Self {
        Self::new(Level::Problem, check, detail)
    }

    fn print(&self, json: bool) -> Result<(), CliError> {
        let Self { level, check, detail } = self;
        let word = match level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
        };
        match serde_json::to_string(self) {
            Ok(line) if json => print_line(&line),
            _ => print_line(&format!("{word:<7}  {check:<13}  {detail}")),
        }
    }
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let findings = match args.settings.load() {
        Ok(config) => block_on(async { Ok(examine(&config).await) })?,
        Err(CliError::Failed(text) | CliError::Refused(text)) => {
            vec![Finding::problem("configuration", text)]
        }
        Err(closed @ CliError::ClosedPipe) => return Err(closed),
    };
    findings.iter().try_for_each(|finding| finding.print(args.json))?;
    match findings.iter().filter(|finding| finding.level == Level::Problem).count() {
        0 => Ok(()),
        1 => Err(CliError::Failed("There is 1 problem: see its line for what to do.".to_owned())),
        many => Err(CliError::Failed(format!(
            "There are {many} problems: see their lines for what to do."
        ))),
    }
}

async fn examine(config: &Config) -> Vec<Finding> {
    let clock = Clock::system();
    let mut findings = settings::check(config);
    findings.extend(settings::check_tls(config, &clock));
    findings.extend(settings::check_blocklist(config));
    findings.extend(settings::check_classification(config, &clock));
    let (store, found) = store::check(&config.store).await;
    findings.extend(found);
    findings.extend(redis::check(config).await);
    findings.extend(clickhouse::check(config).await);
    findings.extend(folder::check(&config.store.url));
    findings.extend(events::check(store.as_ref(), &clock).await);
    findings.extend(clock::check(&config.store.url, store.as_ref(), &clock).await);
    findings.extend(ports::check(&config.net).await);
    findings
}
