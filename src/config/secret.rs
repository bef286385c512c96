//! A secret: text that no log, error or debug print may show.
//!
//! Invariant: the text leaves only through [`Secret::expose`], which is easy to search for.

use std::fmt;

/// Text that prints as `[hidden]`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Hide `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
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
