//! The cache key of an address: a piece of the path on the main host, put together on the stack on
//! a workspace's own host.

use kurz_core::code::path::PathTarget;
use kurz_core::code::{MAX_LENGTH, WorkspaceId};

/// Room for `workspace/code`.
const ROOM: usize = 2 * MAX_LENGTH + 1;

/// `code` on the main host, or `workspace/code`.
#[derive(Clone, Debug)]
pub(super) enum AddressKey<'a> {
    /// As it stands in the path.
    Piece(&'a str),
    /// Put together.
    Joined([u8; ROOM], usize),
}

impl<'a> AddressKey<'a> {
    /// The key of an address on the main host.
    pub(super) fn on_main_host(target: PathTarget<'a>) -> Self {
        match target {
            PathTarget::Bare { code } => Self::Piece(code),
            PathTarget::Workspace { key, .. } => Self::Piece(key),
        }
    }

    /// The key of an address on a workspace's own host; `None` when it is not a bare code.
    pub(super) fn on_own_host(workspace: &WorkspaceId, target: PathTarget<'a>) -> Option<Self> {
        let PathTarget::Bare { code } = target else { return None };
        let mut bytes = [0; ROOM];
        let mut length = 0;
        for piece in [workspace.as_str(), "/", code] {
            let end = length + piece.len();
            bytes.get_mut(length..end)?.copy_from_slice(piece.as_bytes());
            length = end;
        }
        Some(Self::Joined(bytes, length))
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Piece(key) => key,
            Self::Joined(bytes, length) => {
                let bytes = bytes.get(..*length).unwrap_or_default();
                std::str::from_utf8(bytes).unwrap_or_default()
            }
        }
    }

    /// The code, without the workspace.
    pub(super) fn code(&self) -> &str {
        let key = self.as_str();
        key.split_once('/').map_or(key, |(_, code)| code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::code::path;

    #[test]
    fn d5_no_two_addresses_share_a_key() {
        let acme = WorkspaceId::parse("acme").unwrap();
        let target = |text| path::parse(text).unwrap().target;
        let main = AddressKey::on_main_host(target("/promo"));
        let named = AddressKey::on_main_host(target("/w/acme/promo"));
        let own = AddressKey::on_own_host(&acme, target("/promo")).unwrap();
        assert_eq!(main.as_str(), "promo");
        assert_eq!((named.as_str(), own.as_str()), ("acme/promo", "acme/promo"));
        assert_eq!((main.code(), named.code(), own.code()), ("promo", "promo", "promo"));
        assert!(AddressKey::on_own_host(&acme, target("/w/acme/promo")).is_none());
        let longest = WorkspaceId::parse(&"w".repeat(MAX_LENGTH)).unwrap();
        let code = "c".repeat(MAX_LENGTH);
        let key = AddressKey::on_own_host(&longest, PathTarget::Bare { code: &code }).unwrap();
        assert_eq!(key.as_str(), format!("{longest}/{code}"));
    }
}
