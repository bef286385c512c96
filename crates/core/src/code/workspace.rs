//! The id of a workspace, as it stands in addresses and in the input of deterministic codes.
//!
//! Not the workspace itself: its name, hosts and members live in the store. Invariant: an id is
//! `[A-Za-z0-9_-]{1,64}`, so it can stand in a path as it is and never holds the `|` that separates
//! it from the URL in a deterministic code's hash.

use std::fmt;

use super::is_name;

/// The id of a workspace: `[A-Za-z0-9_-]{1,64}`, case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceId(String);

impl WorkspaceId {
    /// Read an id; `None` when the text cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::is_valid(text).then(|| Self(text.to_owned()))
    }

    /// Whether a text can be an id.
    pub fn is_valid(text: &str) -> bool {
        is_name(text)
    }

    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_holds_nothing_that_a_path_or_a_hash_input_would_misread() {
        assert_eq!(WorkspaceId::parse("ws_abc-1").unwrap().to_string(), "ws_abc-1");
        for bad in ["", "a|b", "a/b", "a b", "é", ".."] {
            assert_eq!(WorkspaceId::parse(bad), None, "{bad:?}");
        }
    }
}
