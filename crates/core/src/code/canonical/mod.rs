//! The canonical form of a URL: the key for "same URL" (rules C1 to C10 of the vectors).
//!
//! Not a general URL parser: http and https only, no base, no relative references. Which targets are
//! allowed is decided elsewhere (`link::target`). Hosts are parsed by the `url` crate; the rest is done here because the
//! rules go further than its normalisation (query order, escapes, slashes).
//!
//! Invariants: the form is its own canonical form (C10); it is printable ASCII without spaces, so
//! it can be used as a header value; it has at most [`MAX_BYTES`] bytes.

mod error;
mod escape;
mod host;
mod path;
mod query;

use std::fmt;

use sha2::{Digest, Sha256};

pub use error::UrlError;

/// The most bytes a URL has, as it is sent and in canonical form.
///
/// The rules bound the input only; but escapes make a form longer than its input, and a form past
/// the bound would be refused as an input: it would not be its own canonical form.
pub const MAX_BYTES: usize = 8192;

/// A URL in canonical form. Only [`canonicalise`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canonical {
    text: String,
    host_start: usize,
    host_end: usize,
    port: Option<u16>,
}

impl Canonical {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn into_string(self) -> String {
        self.text
    }

    /// The host as it is written in the form; an IPv6 address with its brackets.
    pub fn host(&self) -> &str {
        self.text.get(self.host_start..self.host_end).unwrap_or_default()
    }

    /// The port, when it is not the scheme's own.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The port that a client connects to: the default of the scheme unless another is given.
    pub fn effective_port(&self) -> u16 {
        let own = if self.text.starts_with("https:") { 443 } else { 80 };
        self.port.unwrap_or(own)
    }

    /// The path, without query.
    pub fn path(&self) -> &str {
        let rest = self.text.get(self.host_end..).unwrap_or_default();
        let rest = rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or_default();
        rest.split('?').next().unwrap_or_default()
    }

    /// Refuses targets that no server can have: port 0, and names that DNS cannot hold. The canonical form
    /// allows them, as the rules do; this is checked when a link is created.
    pub fn check_reachable(&self) -> Result<(), UrlError> {
        if self.port == Some(0) {
            return Err(UrlError::PortInvalid);
        }
        if host::is_reachable(self.host()) { Ok(()) } else { Err(UrlError::HostInvalid) }
    }

    /// SHA-256 of the form: the key for "same URL" in the store, since a long URL fits no index.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(&self.text).into()
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The canonical form of `input`, or why it is refused.
pub fn canonicalise(input: &str) -> Result<Canonical, UrlError> {
    let text = input.trim_matches(|c| c <= ' ');
    if text.is_empty() {
        return Err(UrlError::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(UrlError::TooLong);
    }
    if has_control(text) {
        return Err(UrlError::ControlCharacters);
    }
    let (scheme, rest) = split_scheme(text)?;
    let (head, tail) = split_before(rest, |byte| matches!(byte, b'?' | b'#'));
    let (authority, path) = split_before(head, |byte| byte == b'/');
    if authority.contains('@') {
        return Err(UrlError::UserinfoNotAllowed);
    }
    if head.contains('\\') {
        return Err(UrlError::Backslash);
    }

    // Enough for most URLs: their own bytes and the slash that replaces an empty path.
    let mut out = Vec::with_capacity(text.len() + 1);
    out.extend_from_slice(scheme.prefix().as_bytes());
    let (host, port) = host::split_port(authority)?;
    let port = host::port(port)?.filter(|&port| port != scheme.default_port());
    let host_start = out.len();
    host::push(&mut out, host)?;
    let host_end = out.len();
    if let Some(port) = port {
        out.extend_from_slice(format!(":{port}").as_bytes());
    }
    path::push(&mut out, path.as_bytes());
    if let Some(query) = tail.strip_prefix('?') {
        let (query, _fragment) = split_before(query, |byte| byte == b'#');
        query::push(&mut out, query.as_bytes());
    }
    if out.len() > MAX_BYTES {
        return Err(UrlError::TooLong);
    }
    let text = String::from_utf8(out).expect("every part pushes ASCII only");
    Ok(Canonical { text, host_start, host_end, port })
}

/// The schemes that links may have.
#[derive(Clone, Copy)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Https => "https://",
        }
    }

    const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// The scheme, and what follows its `://`.
fn split_scheme(text: &str) -> Result<(Scheme, &str), UrlError> {
    for scheme in [Scheme::Https, Scheme::Http] {
        if let Some((start, rest)) = text.split_at_checked(scheme.prefix().len())
            && start.eq_ignore_ascii_case(scheme.prefix())
        {
            return Ok((scheme, rest));
        }
    }
    Err(scheme_error(text))
}

/// Distinguishes a scheme that is not allowed from a text without a scheme, for a helpful message.
fn scheme_error(text: &str) -> UrlError {
    match scheme_of(text).as_deref() {
        // `http:/example.com` has the right scheme and lacks the slashes.
        None | Some("http" | "https") => UrlError::SchemeMissing,
        Some(_) => UrlError::SchemeNotAllowed,
    }
}

/// The scheme of a text, in lower case, if it begins with one.
pub fn scheme_of(text: &str) -> Option<String> {
    let (name, _) = text.trim_start_matches(|c| c <= ' ').split_once(':')?;
    let is_scheme = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    is_scheme.then(|| name.to_ascii_lowercase())
}

/// Splits before the first byte that `stop` accepts; `stop` accepts ASCII only.
fn split_before(text: &str, stop: impl Fn(u8) -> bool) -> (&str, &str) {
    let at = text.bytes().position(stop).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Whether a control character (U+0000 to U+001F, U+007F) is in the text.
fn has_control(text: &str) -> bool {
    // Without an early exit, and in bytes: such a loop becomes vector instructions.
    text.bytes().fold(0, |found, byte| found | u8::from(byte.is_ascii_control())) != 0
}

#[cfg(test)]
mod tests;
