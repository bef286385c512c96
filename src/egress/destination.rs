//! Which URLs may be requested, decided from their text; the addresses of a name are checked after the
//! lookup. Parsing follows the WHATWG URL standard like browsers do, so that no spelling of an address
//! is understood differently elsewhere.
//!
//! Invariant: a [`Destination`] is http or https, on port 80 or 443, without credentials, and its host is
//! an address or a public DNS name.

use std::net::IpAddr;

use http::uri::PathAndQuery;
use url::{Host, Position, Url};

/// Longer than any target, and than any redirect worth following.
const MAX_URL_BYTES: usize = 8 * 1024;

/// Suffixes that are not in the public DNS: this machine, the local network, other networks. A lookup
/// would reveal which of these names exist.
const NON_PUBLIC_SUFFIXES: &[&str] =
    &["localhost", "local", "internal", "intranet", "home.arpa", "onion", "alt"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlRefusal {
    /// Not a URL that any client could request.
    Invalid,
    /// Scheme, port, credentials or host are not allowed.
    NotAllowed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    /// Lower case, without a trailing dot.
    Name(String),
    Address(IpAddr),
}

/// A URL that may be requested.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    url: Url,
    host: HostKind,
    port: u16,
    resource: PathAndQuery,
}

impl Destination {
    pub(super) fn parse(text: &str) -> Result<Self, UrlRefusal> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlRefusal::Invalid);
        }
        Self::validate(Url::parse(text).map_err(|_| UrlRefusal::Invalid)?)
    }

    /// Resolve a `Location` header of this destination's response.
    pub(super) fn follow(&self, location: &[u8]) -> Result<Self, UrlRefusal> {
        let text = str::from_utf8(location).map_err(|_| UrlRefusal::Invalid)?;
        if text.len() > MAX_URL_BYTES {
            return Err(UrlRefusal::Invalid);
        }
        Self::validate(self.url.join(text).map_err(|_| UrlRefusal::Invalid)?)
    }

    fn validate(url: Url) -> Result<Self, UrlRefusal> {
        let ("http" | "https", Some(port @ (80 | 443))) =
            (url.scheme(), url.port_or_known_default())
        else {
            return Err(UrlRefusal::NotAllowed);
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefusal::NotAllowed);
        }
        let host = match url.host().ok_or(UrlRefusal::Invalid)? {
            Host::Ipv4(address) => HostKind::Address(address.into()),
            Host::Ipv6(address) => HostKind::Address(address.into()),
            Host::Domain(name) => HostKind::Name(validate_name(name)?),
        };
        let resource = url[Position::BeforePath..Position::AfterQuery].parse();
        let resource = resource.map_err(|_| UrlRefusal::Invalid)?;
        Ok(Self { url, host, port, resource })
    }

    pub(super) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(super) fn host(&self) -> &HostKind {
        &self.host
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// The `Host` header: as in the URL, without the scheme's default port.
    pub(super) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    pub(super) fn resource(&self) -> PathAndQuery {
        self.resource.clone()
    }
}

fn validate_name(name: &str) -> Result<String, UrlRefusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let too_long = name.len() > 253 || name.split('.').any(|label| label.len() > 63);
    if too_long || name.split('.').any(str::is_empty) {
        return Err(UrlRefusal::Invalid);
    }
    let has_suffix =
        |suffix: &&str| name.strip_suffix(*suffix).is_some_and(|rest| rest.ends_with('.'));
    // A name without a dot is a local host, or a top-level domain, which serves no pages.
    let is_public =
        !NON_PUBLIC_SUFFIXES.iter().any(has_suffix) && !NON_PUBLIC_SUFFIXES.contains(&name);
    if !name.contains('.') || !is_public {
        return Err(UrlRefusal::NotAllowed);
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(text: &str) -> Result<HostKind, UrlRefusal> {
        Destination::parse(text).map(|destination| destination.host)
    }

    #[test]
    fn urls_are_parsed_as_browsers_parse_them() {
        let name = |name: &str| Ok(HostKind::Name(name.to_owned()));
        let address = |text: &str| Ok(HostKind::Address(text.parse().unwrap()));
        let out = Err(UrlRefusal::NotAllowed);
        let cases = [
            ("http://example.com/", name("example.com")),
            ("HTTPS://EXAMPLE.com.:443/", name("example.com")),
            ("http://example.com:443/", name("example.com")),
            ("http://bücher.example/", name("xn--bcher-kva.example")),
            ("http://0x7f.1/", address("127.0.0.1")),
            ("http://2130706433/", address("127.0.0.1")),
            ("http://127。0。0。1/", address("127.0.0.1")),
            ("http://[::ffff:7f00:1]/", address("::ffff:127.0.0.1")),
            ("http:\\\\127.0.0.1\\", address("127.0.0.1")),
            ("http://example.com@127.0.0.1/", out.clone()),
            ("http://user:pass@example.com/", out.clone()),
            ("http://example.com:22/", out.clone()),
            ("http://example.com:0/", out.clone()),
            ("ftp://example.com:80/", out.clone()),
            ("file:///etc/passwd", out.clone()),
            ("gopher://example.com:80/", out.clone()),
            ("javascript:alert(1)", out.clone()),
            ("http://localhost/", out.clone()),
            ("http://a.LOCALHOST./", out.clone()),
            ("http://metadata.google.internal/", out.clone()),
            ("http://printer.local/", out.clone()),
            ("http://intranet/", out),
            ("http://example.com:65536/", Err(UrlRefusal::Invalid)),
            ("http://a..example/", Err(UrlRefusal::Invalid)),
            ("http://127.0.0.1.5/", Err(UrlRefusal::Invalid)),
            ("example.com", Err(UrlRefusal::Invalid)),
            ("http://[::1/", Err(UrlRefusal::Invalid)),
        ];
        for (text, expected) in cases {
            assert_eq!(host(text), expected, "{text}");
        }
        let long = format!("http://example.com/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(host(&long), Err(UrlRefusal::Invalid));
    }

    #[test]
    fn a_location_is_resolved_against_the_current_url() {
        let current = Destination::parse("https://example.com/a/b?c").unwrap();
        let resolved = |location: &[u8]| {
            current.follow(location).map(|destination| destination.url.to_string())
        };
        assert_eq!(resolved(b"d").unwrap(), "https://example.com/a/d");
        assert_eq!(resolved(b"//other.example/").unwrap(), "https://other.example/");
        assert_eq!(resolved(b"http://example.com/").unwrap(), "http://example.com/");
        assert_eq!(resolved(b"//127.0.0.1:6379/"), Err(UrlRefusal::NotAllowed));
        assert_eq!(resolved(b"data:text/html,x"), Err(UrlRefusal::NotAllowed));
        assert_eq!(resolved(b"/\xff"), Err(UrlRefusal::Invalid));
    }

    #[test]
    fn the_request_names_the_host_as_the_url_does() {
        let destination = Destination::parse("http://Example.com:443/a?b=c#d").unwrap();
        assert_eq!(destination.authority(), "example.com:443");
        assert_eq!(destination.resource(), "/a?b=c");
        assert_eq!(
            Destination::parse("https://example.com:443").unwrap().authority(),
            "example.com"
        );
        assert_eq!(Destination::parse("http://[2A00::1]/").unwrap().authority(), "[2a00::1]");
    }

    proptest! {
        #[test]
        fn every_path_and_query_can_be_requested(tail in "[ -~é]{0,40}") {
            let text = format!("http://example.com/{tail}");
            prop_assume!(Url::parse(&text).is_ok());
            prop_assert!(Destination::parse(&text).is_ok(), "{text}");
        }
    }
}
