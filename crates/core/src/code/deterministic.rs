//! Deterministic codes: the same URL in the same workspace always has the same code.
//!
//! Codes are not secret: anybody who knows the URL and the workspace can compute the code. They are not unique either:
//! two URLs may share one, and then the caller takes the next attempt. Invariant: a published code never
//! changes, so this algorithm must not change.

use sha2::{Digest, Sha256};

use super::base::base58;
use super::{Canonical, Code, WorkspaceId};

/// How many codes are tried for a URL before giving up: attempts 0 to 9.
pub const ATTEMPTS: u32 = 10;

pub const LENGTH: u8 = 10;

/// The code of a URL in a workspace; `attempt` counts the codes found taken by other URLs.
pub fn code(canonical: &Canonical, workspace: &WorkspaceId, attempt: u32) -> Code {
    code_in(canonical, workspace.as_str(), attempt)
}

/// The same for any text as the workspace: offline tools may have ids that this server would refuse.
pub fn code_in(canonical: &Canonical, workspace: &str, attempt: u32) -> Code {
    let hash = hash(canonical, workspace, attempt);
    Code(derive(hash.first_chunk().copied().unwrap_or_default(), LENGTH))
}

/// SHA-256 of `canonical|workspace`, and `|attempt` from the second attempt on.
pub fn hash(canonical: &Canonical, workspace: &str, attempt: u32) -> [u8; 32] {
    let mut hash = Sha256::new();
    // A canonical URL holds no `|` (it is escaped), so the parts are unambiguous.
    hash.update(canonical.as_str());
    hash.update("|");
    hash.update(workspace);
    if attempt > 0 {
        hash.update(format!("|{attempt}"));
    }
    hash.finalize().into()
}

/// The first `length` Base58 digits of sixteen bytes, read as a big-endian number.
pub fn derive(bytes: [u8; 16], length: u8) -> String {
    base58(u128::from_be_bytes(bytes), length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::canonicalise;

    #[test]
    fn a_code_depends_on_url_workspace_and_attempt() {
        let url = canonicalise("https://example.com/page").unwrap();
        let other = canonicalise("https://example.com/Page").unwrap();
        let workspace = WorkspaceId::parse("42").unwrap();
        let stranger = WorkspaceId::parse("43").unwrap();
        assert_eq!(code(&url, &workspace, 0).as_str(), "GA5c8932Ej");
        assert_eq!(code(&url, &workspace, 0), code(&url, &workspace, 0));
        assert_eq!(code(&url, &workspace, 1).as_str(), "TZ5Ze5djjx");
        assert_ne!(code(&other, &workspace, 0), code(&url, &workspace, 0));
        assert_ne!(code(&url, &stranger, 0), code(&url, &workspace, 0));
    }

    #[test]
    fn a_url_never_holds_the_separator_of_the_hash_input() {
        let url = canonicalise("http://example.com/a|b?c|d=|#|").unwrap();
        assert!(!url.as_str().contains('|'), "{url}");
    }
}
