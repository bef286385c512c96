//! Text that no log, error or debug output may show.
//!
//! Invariant: [`Secret::expose`] is the only way to read the text, so that its uses can be searched for.

use std::fmt;

/// Text that prints as `[hidden]`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // threats: H12
    #[test]
    fn a_secret_prints_hidden_however_it_is_printed() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "[hidden] [hidden]");
        assert_eq!(secret.expose(), "hunter2");
    }
}
