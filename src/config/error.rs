//! Errors of the configuration, each one sentence for the operator.
//!
//! Invariant: every sentence names the setting as the user wrote it (`KURZ_LISTEN`, `listen in
//! kurz.toml`, `--listen`) or the file, and says what is accepted. It contains no secret.

use std::path::PathBuf;

/// Why the configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No setting has this name.
    #[error("{setting} is not a setting of kurz{hint}; docs/CONFIG.md lists them all.")]
    Unknown {
        /// The name as the user wrote it.
        setting: String,
        /// `(did you mean …?)`, or nothing.
        hint: String,
    },
    /// The value is of the wrong type or out of bounds.
    #[error("{setting} is {value}, but it takes {accepts}.")]
    Refused {
        /// The name as the user wrote it.
        setting: String,
        /// The value, quoted; `[hidden]` for a secret.
        value: String,
        /// What is accepted.
        accepts: String,
    },
    /// Settings that are each within bounds and do not fit together.
    #[error("{0}.")]
    Conflict(&'static str),
    /// A secret is given as such and as a file.
    #[error("{first} and {second} are both set: set one of them.")]
    Both {
        /// The names as the user wrote them.
        first: String,
        /// The other.
        second: String,
    },
    /// The file of a secret cannot be read.
    #[error("{setting} names {}, which cannot be read: {reason}; check its path and permissions.", .path.display())]
    SecretUnreadable {
        /// The name as the user wrote it.
        setting: String,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        reason: String,
    },
    /// The environment holds bytes that are not UTF-8.
    #[error("{setting} is not valid UTF-8; set it to text.")]
    NotText {
        /// The variable's name.
        setting: String,
    },
    /// The file cannot be read.
    #[error(
        "Cannot read the configuration file {}: {reason}; check --config or KURZ_CONFIG.",
        .path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        reason: String,
    },
    /// The file is not TOML.
    #[error(
        "The configuration file {} is not valid TOML at line {line}: {reason}; correct it.",
        .path.display()
    )]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The parser's error.
        reason: String,
    },
}
