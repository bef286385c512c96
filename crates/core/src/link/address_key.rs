//! The key of a short address: `code` on the main host, `workspace/code` anywhere else. Caches, the store
//! and messages between instances look links up by it.
//!
//! Invariant: neither a code nor a workspace id holds a slash, so no two addresses share a key. Holds no
//! allocation: every redirect makes one.

use std::fmt;

use crate::code::short_path::PathTarget;
use crate::code::{Code, MAX_LENGTH, WorkspaceId};

/// Room for `workspace/code`.
const ROOM: usize = 2 * MAX_LENGTH + 1;

/// `code` on the main host, or `workspace/code`.
#[derive(Clone)]
pub enum AddressKey<'a> {
    /// As it stands in a text.
    Borrowed(&'a str),
    /// Put together: the bytes, and how many of them.
    Joined([u8; ROOM], usize),
}

impl<'a> AddressKey<'a> {
    /// Read a key; `None` when the text is none.
    pub fn parse(text: &'a str) -> Option<Self> {
        let is_key = match text.split_once('/') {
            None => Code::is_valid(text),
            Some((workspace, code)) => WorkspaceId::is_valid(workspace) && Code::is_valid(code),
        };
        is_key.then_some(Self::Borrowed(text))
    }

    /// The key of a path on the main host.
    pub fn on_main_host(target: PathTarget<'a>) -> Self {
        match target {
            PathTarget::Bare { code } => Self::Borrowed(code),
            PathTarget::Workspace { key, .. } => Self::Borrowed(key),
        }
    }

    /// The key of a path on a workspace's own host; `None` when it is not a bare code.
    pub fn on_own_host(workspace: &WorkspaceId, target: PathTarget<'a>) -> Option<Self> {
        match target {
            PathTarget::Bare { code } => Self::join(workspace.as_str(), code),
            PathTarget::Workspace { .. } => None,
        }
    }

    /// The keys of a link: the bare code, and the one with its workspace.
    pub fn of_link(workspace: &str, code: &'a str) -> impl Iterator<Item = Self> {
        [Some(Self::Borrowed(code)), Self::join(workspace, code)].into_iter().flatten()
    }

    /// `None` when they are longer than a workspace id and a code can be.
    fn join(workspace: &str, code: &str) -> Option<Self> {
        let mut bytes = [0; ROOM];
        let mut length = 0;
        for piece in [workspace, "/", code] {
            let end = length + piece.len();
            bytes.get_mut(length..end)?.copy_from_slice(piece.as_bytes());
            length = end;
        }
        Some(Self::Joined(bytes, length))
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(key) => key,
            Self::Joined(bytes, length) => {
                let bytes = bytes.get(..*length).unwrap_or_default();
                std::str::from_utf8(bytes).unwrap_or_default()
            }
        }
    }

    /// The workspace, if the key names one, and the code.
    pub fn parts(&self) -> (Option<&str>, &str) {
        let key = self.as_str();
        key.split_once('/').map_or((None, key), |(workspace, code)| (Some(workspace), code))
    }

    /// The code, without the workspace.
    pub fn code(&self) -> &str {
        self.parts().1
    }
}

impl fmt::Display for AddressKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for AddressKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AddressKey({self})")
    }
}

impl PartialEq for AddressKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for AddressKey<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::short_path;

    // threats: D5
    #[test]
    fn no_two_addresses_share_a_key() {
        let acme = WorkspaceId::parse("acme").unwrap();
        let target = |text| short_path::parse(text).unwrap().target;
        let main = AddressKey::on_main_host(target("/promo"));
        let named = AddressKey::on_main_host(target("/w/acme/promo"));
        let own = AddressKey::on_own_host(&acme, target("/promo")).unwrap();
        assert_eq!(main.as_str(), "promo");
        assert_eq!((named.as_str(), own.as_str()), ("acme/promo", "acme/promo"));
        assert_eq!((main.parts(), own.parts()), ((None, "promo"), (Some("acme"), "promo")));
        assert!(AddressKey::on_own_host(&acme, target("/w/acme/promo")).is_none());
        let longest = WorkspaceId::parse(&"w".repeat(MAX_LENGTH)).unwrap();
        let code = "c".repeat(MAX_LENGTH);
        let key = AddressKey::on_own_host(&longest, PathTarget::Bare { code: &code }).unwrap();
        assert_eq!(key.to_string(), format!("{longest}/{code}"));
    }

    #[test]
    fn a_link_has_two_keys_and_each_is_read_back() {
        let keys: Vec<String> =
            AddressKey::of_link("acme", "promo").map(|key| key.to_string()).collect();
        assert_eq!(keys, ["promo", "acme/promo"]);
        for key in &keys {
            assert_eq!(AddressKey::parse(key).unwrap().to_string(), *key);
        }
        for bad in ["", "/", "a/", "/b", "a/b/c", "a b", "é"] {
            assert_eq!(AddressKey::parse(bad), None, "{bad:?}");
        }
    }
}
