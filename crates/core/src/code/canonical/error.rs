//! Why a URL was refused: one sentence for a person, one stable code for a program.
//!
//! Not an HTTP status: the edge decides that. Invariant: a code, once published, never changes its
//! meaning.

use super::{MAX_BYTES, scheme_of};

/// Why a text is not a URL that kurz shortens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Nothing is left after trimming.
    #[error("The URL is empty: send one that starts with http:// or https://.")]
    Empty,
    /// A control character inside the text.
    #[error("The URL holds a control character such as a line break or a tab: remove it.")]
    ControlCharacters,
    /// More than [`MAX_BYTES`], as sent or in canonical form.
    #[error(
        "The URL is longer than {MAX_BYTES} bytes once its characters are encoded: shorten it."
    )]
    TooLong,
    /// No `scheme://` in front.
    #[error("The URL does not start with http:// or https://: write it out in full.")]
    SchemeMissing,
    /// A scheme other than http and https.
    #[error("Only http and https URLs can be shortened: start it with http:// or https://.")]
    SchemeNotAllowed,
    /// An `@` before the path.
    #[error("The URL has an @ before its path, which hides where it leads: remove the user part.")]
    UserinfoNotAllowed,
    /// A backslash before the query.
    #[error("The URL has a backslash before its query: write / instead, or encode it as %5C.")]
    Backslash,
    #[error("The URL names no host: write one after http:// or https://.")]
    HostEmpty,
    /// A host that no standard resolver would look up.
    #[error("The URL's host is neither a domain name nor an IP address: check its spelling.")]
    HostInvalid,
    /// A port that is not a number up to 65535, or that no server can have.
    #[error("The URL's port is not a number from 1 to 65535: correct it or leave it out.")]
    PortInvalid,
}

impl UrlError {
    /// The sentence about `url`, which names its scheme where that is what is wrong.
    pub fn about(self, url: &str) -> String {
        match scheme_of(url).filter(|_| self == Self::SchemeNotAllowed) {
            Some(scheme) => format!(
                "A link cannot lead to a `{scheme}:` URL: only http and https URLs can be shortened."
            ),
            None => self.to_string(),
        }
    }

    /// The stable kebab-case code of this refusal.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "url-empty",
            Self::ControlCharacters => "url-control-characters",
            Self::TooLong => "url-too-long",
            Self::SchemeMissing => "url-scheme-missing",
            Self::SchemeNotAllowed => "url-scheme-not-allowed",
            Self::UserinfoNotAllowed => "url-userinfo-not-allowed",
            Self::Backslash => "url-backslash",
            Self::HostEmpty => "url-host-empty",
            Self::HostInvalid => "url-host-invalid",
            Self::PortInvalid => "url-port-invalid",
        }
    }
}
