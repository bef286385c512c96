//! The log: what is written, and in which form. Writing it is `cli::logs`' part.
//!
//! Invariant: the directives parse, so that the log cannot fail to start because of them.

use tracing_subscriber::EnvFilter;

use super::rule::{Rule, ValueForm, choice};
use super::setting::settings;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

settings! {
    /// What is logged, and how.
    pub struct Log {
        /// What is logged: a level, or directives such as `info,kurz::store=debug`.
        "log" => directives: String = directives().or("info"),
        /// The format of a log line: human-readable, or one JSON object per line.
        "log_format" => format: LogFormat =
            choice([("human", LogFormat::Human), ("json", LogFormat::Json)]).or("human"),
    }
}

fn directives() -> Rule<String> {
    let accepts = "error, warn, info, debug, trace, off, or directives such as \
                   info,kurz::store=debug";
    Rule::new(ValueForm::Text, accepts, |text| {
        // Without this, an empty value would silently log errors only.
        let directives = Some(text).filter(|text| !text.trim().is_empty())?;
        EnvFilter::builder().parse(directives).ok().map(|_| directives.to_owned())
    })
}
