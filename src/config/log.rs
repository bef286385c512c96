//! Filter and format of the log; `cli::logs` writes it.
//!
//! Invariant: the directives are valid, so that setting up the log cannot fail because of them.

use tracing_subscriber::EnvFilter;

use super::setting::settings;
use super::value_parser::{ValueForm, ValueParser, choice};

/// The format of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Human,
    /// One JSON object per line.
    Json,
}

settings! {
    /// Filter and format of the log.
    pub struct Log {
        /// What is logged: a level, or directives such as `info,kurz::store=debug`.
        "log" => directives: String = directives().or("info"),
        /// The format of a log line: human-readable, or one JSON object per line.
        "log_format" => format: LogFormat =
            choice([("human", LogFormat::Human), ("json", LogFormat::Json)]).or("human"),
    }
}

fn directives() -> ValueParser<String> {
    let accepts = "error, warn, info, debug, trace, off, or directives such as \
                   info,kurz::store=debug";
    ValueParser::new(ValueForm::Text, accepts, |text| {
        // An empty filter would silently log errors only.
        let directives = Some(text).filter(|text| !text.trim().is_empty())?;
        EnvFilter::builder().parse(directives).ok().map(|_| directives.to_owned())
    })
}
