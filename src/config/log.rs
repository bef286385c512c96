//! The log, the access log and the export of traces: what is written, in which format, and where it
//! goes. Writing is done by `cli::logs` and `telemetry`.
//!
//! Invariant: the directives parse, so that the log cannot fail to start because of them.

use tracing_subscriber::EnvFilter;
use url::Url;

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
    /// What is logged, and how.
    pub struct Log {
        /// What is logged: a level, or directives such as `info,kurz::store=debug`.
        "log" => directives: String = directives().or("info"),
        /// The form of a line: for people, or one JSON object a line.
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

fn directives() -> Rule<String> {
    let accepts = "error, warn, info, debug, trace, off, or directives such as \
                   info,kurz::store=debug";
    Rule::new(ValueForm::Text, accepts, |text| {
        // Without this, an empty value would silently log errors only.
        let directives = Some(text).filter(|text| !text.trim().is_empty())?;
        EnvFilter::builder().parse(directives).ok().map(|_| directives.to_owned())
    })
}

/// The base address of a collector. It goes into log lines, so it holds no credentials.
fn collector() -> Rule<Url> {
    let accepts = "http:// or https:// with a host and without user, query and fragment, such as \
                   http://collector:4318";
    Rule::new(ValueForm::Text, accepts, |text| {
        let url = Url::parse(text).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let is_base = url.query().is_none() && url.fragment().is_none();
        (matches!(url.scheme(), "http" | "https") && is_plain && is_base).then_some(url)
    })
    .hiding(|text| text.contains('@'))
}
