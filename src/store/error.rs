//! What can go wrong in a store, sorted by what the caller can do about it.

use thiserror::Error;

/// A failure of the store.
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// The database does not answer: away, busy, or too slow. Trying again may help.
    #[error("the database does not answer: {0}")]
    Unavailable(String),
    /// There is no room left to write. Reading goes on.
    #[error("the disk that holds the database is full: {0}")]
    Full(String),
    /// The database holds something that it should not.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// The database was made by a newer kurz.
    #[error("{0}")]
    Newer(String),
    /// What the row should belong to is not there.
    #[error("the row belongs to nothing: {0}")]
    Dangling(String),
    /// The database cannot be opened or brought up to date.
    #[error("{0}")]
    Open(String),
    /// A statement that the database refused: a fault in kurz.
    #[error("the database refused a statement: {0}")]
    Refused(String),
}
