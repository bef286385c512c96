//! The log, the access log and the export of traces: what is written, in which format, and where it
//! goes. Writing is done by `cli::logs` and `telemetry`.
//!
//! Invariant: the directives are valid, so that setting up the log cannot fail because of them.

use tracing_subscriber::filter::Targets;
use url::Url;

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

/// Which requests the access log lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessLog {
    /// None.
    Off,
    /// Those of the API and the pages.
    Control,
    /// Those and redirects.
    All,
}

settings! {
    /// Filter and format of the log.
    pub struct Log {
        /// What is logged: a level, or directives such as `info,kurz::store=debug`.
        "log" => directives: String = directives().or("info"),
        /// The format of a log line: human-readable, or one JSON object per line.
        "log_format" => format: LogFormat =
            choice([("human", LogFormat::Human), ("json", LogFormat::Json)]).or("human"),
        /// One line of the log for each request: off, control (API and pages), or all (redirects too).
        "access_log" => access: AccessLog = choice([
            ("off", AccessLog::Off),
            ("control", AccessLog::Control),
            ("all", AccessLog::All),
        ]).or("off"),
        /// The OpenTelemetry collector that traces of API and page requests are sent to, over
        /// OTLP/HTTP.
        "otlp" => otlp: Option<Url> = collector().or_none("none: no traces are sent"),
    }
}

const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

fn directives() -> ValueParser<String> {
    let accepts = "error, warn, info, debug, trace, off, or directives such as \
                   info,kurz::store=debug";
    ValueParser::new(ValueForm::Text, accepts, |text| {
        // An empty filter would silently log errors only.
        let directives = Some(text).filter(|text| !text.trim().is_empty())?;
        // A word alone would be taken for the name of a module, all of whose lines are logged, and all
        // others would not be.
        let is_known = |word: &str| word.contains(['=', ':']) || LEVELS.contains(&word);
        if !directives.split(',').all(|word| is_known(&word.trim().to_ascii_lowercase())) {
            return None;
        }
        directives.parse::<Targets>().ok().map(|_| directives.to_owned())
    })
}

/// The base address of a collector. It goes into log lines, so it holds no credentials.
fn collector() -> ValueParser<Url> {
    let accepts = "http:// or https:// with a host and without user, query and fragment, such as \
                   http://collector:4318";
    ValueParser::new(ValueForm::Text, accepts, |text| {
        let url = Url::parse(text).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let is_base = url.query().is_none() && url.fragment().is_none();
        (matches!(url.scheme(), "http" | "https") && is_plain && is_base).then_some(url)
    })
    .redact_if(|text| text.contains('@'))
}
