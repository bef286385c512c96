//! The log: lines on stderr, for people or as JSON. What is logged is decided where it happens.
//!
//! Invariant: stdout is for answers; the log is written to stderr only. A log that cannot be written never stops
//! the program.

use std::io::{self, IsTerminal};

use tracing::Dispatch;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::CliError;
use super::visible_log::VisibleLog;
use crate::config::{AccessLog, Log, LogFormat};
use crate::telemetry::access_log;

/// Start the log, once for the process.
pub(crate) fn init(log: &Log) -> Result<(), CliError> {
    let colours = io::stderr().is_terminal();
    dispatch(log, io::stderr, colours)?.try_init().map_err(|error| failed(&error))
}

fn dispatch<W>(log: &Log, writer: W, colours: bool) -> Result<Dispatch, CliError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let directives = match log.access {
        AccessLog::Off => log.directives.clone(),
        // Also where the rest of the log is less than info.
        AccessLog::Control | AccessLog::All => {
            format!("{},{}", log.directives, access_log::DIRECTIVE)
        }
    };
    let filter: Targets = directives.parse().map_err(|error| failed(&error))?;
    // By default a failed write is told on stderr, which panics when stderr is what failed.
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(VisibleLog::new(writer, colours))
        .log_internal_errors(false);
    let log_to = tracing_subscriber::registry().with(filter);
    Ok(match log.format {
        LogFormat::Human => log_to.with(lines.compact().with_ansi(colours)).into(),
        LogFormat::Json => {
            // The list of spans would repeat the one span that there is.
            log_to.with(lines.json().flatten_event(true).with_span_list(false)).into()
        }
    })
}

fn failed(error: &dyn std::error::Error) -> CliError {
    CliError::Failed(format!("Cannot start the log: {error}; check the setting log."))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(directives: &str, format: LogFormat) -> String {
        let page = Page::default();
        let writer = page.clone();
        let (directives, access) = (directives.to_owned(), AccessLog::Off);
        let log = Log { directives, format, access, otlp: None };
        let dispatch = dispatch(&log, move || writer.clone(), false).unwrap();
        tracing::dispatcher::with_default(&dispatch, || {
            tracing::info!(code = "abc", "made a link");
            tracing::debug!("too fine");
        });
        let bytes = page.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_for_people_holds_level_message_and_fields() {
        let text = written("info", LogFormat::Human);
        assert_eq!(text.lines().count(), 1, "{text}");
        for part in ["INFO", "made a link", "code=\"abc\""] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_json_line_is_one_flat_object() {
        let text = written("info", LogFormat::Json);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&line["level"], &line["code"]), (&"INFO".into(), &"abc".into()), "{line}");
        assert_eq!(line["message"], "made a link");
    }

    #[test]
    fn no_line_directs_a_terminal_or_reorders_text() {
        let hostile = "a\u{202e}gpj\u{1b}[8m\u{1b}[2J\u{9b}2J\u{2028}";
        for (format, colours) in
            [(LogFormat::Human, false), (LogFormat::Human, true), (LogFormat::Json, false)]
        {
            let page = Page::default();
            let writer = page.clone();
            let (directives, access) = ("info".to_owned(), AccessLog::Off);
            let log = Log { directives, format, access, otlp: None };
            let dispatch = dispatch(&log, move || writer.clone(), colours).unwrap();
            tracing::dispatcher::with_default(&dispatch, || {
                tracing::info!(host = hostile, text = %hostile, "asked for {hostile}");
            });
            let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
            assert_eq!(text.lines().count(), 1, "{text:?}");
            let hidden = |c: char| kurz_core::visible_text::is_hidden(c) && !"\n\u{1b}".contains(c);
            assert!(!text.contains(hidden), "{text:?}");
            assert!(!text.contains("\u{1b}[8m") && !text.contains("\u{1b}[2J"), "{text:?}");
            assert!(text.contains("\\u202e"), "{text:?}");
        }
    }

    #[test]
    fn what_the_directives_leave_out_is_not_written() {
        assert_eq!(written("error", LogFormat::Human), "");
        assert_eq!(written("error,kurz::cli=debug", LogFormat::Human).lines().count(), 2);
    }
}
