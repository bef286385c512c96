//! Errors of subcommands: a sentence for people and an exit code for programs.
//!
//! Invariant: a failure is reported once, by [`CliError::report`], and on stderr only.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::config::ConfigError;
use crate::store;
use kurz_core::code::UrlError;
use kurz_core::code::counter::CounterError;
use kurz_core::visible_text::visible_lines;

/// The exit code of wrong usage and refused input.
pub(super) const USAGE: u8 = 2;

/// Why a subcommand did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CliError {
    /// It tried and could not: exit code 1.
    Failed(String),
    /// The input or the configuration is not acceptable: exit code 2.
    Refused(String),
    /// The reader of the output closed it, as `head` does: exit code 0.
    ClosedPipe,
}

impl CliError {
    /// The failure to read `what`.
    pub(crate) fn reading(what: &str, error: &io::Error) -> Self {
        Self::Failed(format!("Cannot read {what}: {error}; check it and try again."))
    }

    /// The failure to write the answer.
    pub(crate) fn writing(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Failed(format!("Cannot write the answer: {error}; check where it goes.")),
        }
    }

    /// Tell the user, and give the exit code to end with.
    pub(crate) fn report(&self) -> ExitCode {
        let (sentence, code) = match self {
            Self::Failed(sentence) => (sentence, 1),
            Self::Refused(sentence) => (sentence, USAGE),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        // Not `eprintln`: it panics when stderr is closed.
        let _ = writeln!(io::stderr(), "error: {}", visible_lines(sentence));
        ExitCode::from(code)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<store::Error> for CliError {
    fn from(error: store::Error) -> Self {
        Self::Failed(sentence(&error.to_string()))
    }
}

/// A capital letter and a full stop around what other modules say. Names keep their spelling.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let is_word = text.split(' ').next().is_some_and(|word| word.chars().all(char::is_alphabetic));
    let mut letters = text.chars();
    let first = letters.next().filter(|_| is_word).map(char::to_uppercase);
    match first {
        Some(first) => first.chain(letters).chain(['.']).collect(),
        None => format!("{text}."),
    }
}

impl From<InputError> for CliError {
    fn from(refusal: InputError) -> Self {
        Self::Refused(refusal.sentence)
    }
}

/// Input that is not acceptable: the sentence for an argument, the stable code for a line of stdin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputError {
    pub(super) code: &'static str,
    sentence: String,
}

impl InputError {
    pub(super) fn new(code: &'static str, sentence: &str) -> Self {
        Self { code, sentence: sentence.to_owned() }
    }
}

impl From<UrlError> for InputError {
    fn from(error: UrlError) -> Self {
        Self::new(error.code(), &error.to_string())
    }
}

impl InputError {
    /// Why `url` is refused, with its scheme where that is the reason.
    pub(super) fn of_url(error: UrlError, url: &str) -> Self {
        Self::new(error.code(), &error.about(url))
    }
}

impl From<CounterError> for InputError {
    fn from(error: CounterError) -> Self {
        Self::new(error.code(), &error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_with_a_capital_unless_it_begins_with_a_name() {
        let table = [
            ("the store is locked", "The store is locked."),
            ("Done.", "Done."),
            ("übrig ist nichts", "Übrig ist nichts."),
            ("custom_code: too short", "custom_code: too short."),
            ("sqlite://kurz.db is locked", "sqlite://kurz.db is locked."),
        ];
        for (text, expected) in table {
            assert_eq!(sentence(text), expected);
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_to_the_shell_and_other_errors_are() {
        let closed = CliError::writing(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(closed, CliError::ClosedPipe);
        assert_eq!(closed.report(), ExitCode::SUCCESS);
        let full = CliError::writing(&io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.report(), ExitCode::from(1));
        assert_eq!(CliError::from(InputError::from(UrlError::Empty)).report(), ExitCode::from(2));
    }
}
