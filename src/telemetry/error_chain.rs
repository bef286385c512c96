//! An error with its causes, in one line for the log.

use std::error::Error;

/// The text of `error` and of each of its sources. A source whose text the line has already is left
/// out, since some errors print their source themselves.
pub(crate) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let cause = source.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use thiserror::Error;

    use super::*;

    #[derive(Debug, Error)]
    #[error("the statement FIND failed")]
    struct Quiet(#[source] Loud);

    #[derive(Debug, Error)]
    #[error("the database is away: {0}")]
    struct Loud(#[source] io::Error);

    #[test]
    fn each_cause_is_named_once() {
        let error = Quiet(Loud(io::Error::other("connection reset")));
        assert_eq!(
            error_chain(&error),
            "the statement FIND failed: the database is away: connection reset"
        );
    }
}
