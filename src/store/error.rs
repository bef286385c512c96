//! What can go wrong in a store, sorted by what the caller can do about it.

use std::sync::Arc;

use thiserror::Error;

#[derive(Clone, Debug, Error)]
pub enum Error {
    /// The database does not answer: unreachable, busy, or too slow. A retry may help.
    #[error("the database does not answer: {0}")]
    Unavailable(String),
    /// A statement was stopped at the statement timeout.
    #[error("the statement took too long: {0}")]
    TooSlow(String),
    /// There is no room left to write. Reading goes on.
    #[error("the disk that holds the database is full: {0}")]
    Full(String),
    /// The database holds something that it should not.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// The file of the database is not where it was opened.
    #[error("{0}")]
    Displaced(String),
    /// The database was made by a newer kurz.
    #[error("{0}")]
    Newer(String),
    /// A row refers to another that does not exist.
    #[error("the row refers to one that does not exist: {0}")]
    Dangling(String),
    /// The database cannot be opened or brought up to date.
    #[error("{0}")]
    Open(String),
    /// A statement that the database refused: a fault in kurz.
    #[error("the database refused a statement: {0}")]
    Refused(String),
    /// A statement failed, for a reason that [`Error::kind`] gives.
    #[error("{source} (statement {statement})")]
    Statement {
        /// Where the statement is declared, such as `kurz::store::links::FIND`; `begin` or `commit` for
        /// the ends of a transaction.
        statement: &'static str,
        #[source]
        source: Arc<Error>,
    },
}

impl Error {
    /// What went wrong, without the name of the statement that it happened to.
    pub fn kind(&self) -> &Self {
        match self {
            Self::Statement { source, .. } => source.kind(),
            other => other,
        }
    }

    /// The same error, with the name of the statement that failed.
    pub(super) fn in_statement(self, statement: &'static str) -> Self {
        match self {
            named @ Self::Statement { .. } => named,
            unnamed => Self::Statement { statement, source: Arc::new(unnamed) },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_names_the_statement_and_its_cause() {
        let full = Error::Full("no space left".to_owned());
        let error = full.in_statement("kurz::store::links::FIND").in_statement("commit");
        assert_eq!(
            error.to_string(),
            "the disk that holds the database is full: no space left (statement kurz::store::links::FIND)"
        );
        assert!(matches!(error.kind(), Error::Full(_)));
        let cause = error.source().map(ToString::to_string);
        assert_eq!(
            cause.as_deref(),
            Some("the disk that holds the database is full: no space left")
        );
    }
}
