//! What of a URL may be visited, decided from its text alone. It looks nothing up: a name is judged
//! by its addresses, later. The text is read the way browsers read it, so that no spelling of an
//! address means one thing here and another elsewhere.
//!
//! Invariant: a [`Destination`] is http or https, on port 80 or 443, without credentials, and its host is
//! an address or a name that belongs to everybody's name space.

use std::net::IpAddr;

use http::uri::PathAndQuery;
use url::{Host, Position, Url};

/// Longer than any target, and than any redirect worth following.
const MAX_URL_BYTES: usize = 8 * 1024;

/// Names that only mean something on this machine, in this house or on another network. Looking
/// them up would tell a stranger which of them exist.
const NEAR: &[&str] = &["localhost", "local", "internal", "intranet", "home.arpa", "onion", "alt"];

/// Why a URL is not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UrlRefusal {
    /// Nobody can follow it.
    Unreadable,
    /// kurz does not go there.
    OutOfBounds,
}

/// Who answers at a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostKind {
    /// To be looked up: lower case, without a dot at its end.
    Name(String),
    /// To be vetted as it is.
    Address(IpAddr),
}

/// A URL that may be visited.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    url: Url,
    host: HostKind,
    port: u16,
    resource: PathAndQuery,
}

impl Destination {
    /// Read a whole URL.
    pub(super) fn read(text: &str) -> Result<Self, UrlRefusal> {
        if text.len() > MAX_URL_BYTES {
            return Err(UrlRefusal::Unreadable);
        }
        Self::judge(Url::parse(text).map_err(|_| UrlRefusal::Unreadable)?)
    }

    /// Read a `Location` that was given here.
    pub(super) fn follow(&self, location: &[u8]) -> Result<Self, UrlRefusal> {
        let text = str::from_utf8(location).map_err(|_| UrlRefusal::Unreadable)?;
        if text.len() > MAX_URL_BYTES {
            return Err(UrlRefusal::Unreadable);
        }
        Self::judge(self.url.join(text).map_err(|_| UrlRefusal::Unreadable)?)
    }

    fn judge(url: Url) -> Result<Self, UrlRefusal> {
        let ("http" | "https", Some(port @ (80 | 443))) =
            (url.scheme(), url.port_or_known_default())
        else {
            return Err(UrlRefusal::OutOfBounds);
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefusal::OutOfBounds);
        }
        let host = match url.host().ok_or(UrlRefusal::Unreadable)? {
            Host::Ipv4(address) => HostKind::Address(address.into()),
            Host::Ipv6(address) => HostKind::Address(address.into()),
            Host::Domain(name) => HostKind::Name(judge_name(name)?),
        };
        let resource = url[Position::BeforePath..Position::AfterQuery].parse();
        let resource = resource.map_err(|_| UrlRefusal::Unreadable)?;
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

    /// The request's `Host`: as the URL writes it, with the port where it is not the scheme's own.
    pub(super) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// What is asked for.
    pub(super) fn resource(&self) -> PathAndQuery {
        self.resource.clone()
    }
}

fn judge_name(name: &str) -> Result<String, UrlRefusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let too_long = name.len() > 253 || name.split('.').any(|label| label.len() > 63);
    if too_long || name.split('.').any(str::is_empty) {
        return Err(UrlRefusal::Unreadable);
    }
    let ends_in = |near: &&str| name.strip_suffix(*near).is_some_and(|rest| rest.ends_with('.'));
    // A name without a dot is a neighbour's, or a top-level domain, which holds no pages.
    if !name.contains('.') || NEAR.iter().any(ends_in) || NEAR.contains(&name) {
        return Err(UrlRefusal::OutOfBounds);
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(text: &str) -> Result<HostKind, UrlRefusal> {
        Destination::read(text).map(|destination| destination.host)
    }

    #[test]
    fn what_may_be_visited_is_read_as_browsers_read_it() {
        let name = |name: &str| Ok(HostKind::Name(name.to_owned()));
        let address = |text: &str| Ok(HostKind::Address(text.parse().unwrap()));
        let out = Err(UrlRefusal::OutOfBounds);
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
            ("http://example.com:65536/", Err(UrlRefusal::Unreadable)),
            ("http://a..example/", Err(UrlRefusal::Unreadable)),
            ("http://127.0.0.1.5/", Err(UrlRefusal::Unreadable)),
            ("example.com", Err(UrlRefusal::Unreadable)),
            ("http://[::1/", Err(UrlRefusal::Unreadable)),
        ];
        for (text, expected) in cases {
            assert_eq!(host(text), expected, "{text}");
        }
        let long = format!("http://example.com/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(host(&long), Err(UrlRefusal::Unreadable));
    }

    #[test]
    fn a_location_is_relative_to_where_it_was_given() {
        let here = Destination::read("https://example.com/a/b?c").unwrap();
        let there =
            |location: &[u8]| here.follow(location).map(|destination| destination.url.to_string());
        assert_eq!(there(b"d").unwrap(), "https://example.com/a/d");
        assert_eq!(there(b"//other.example/").unwrap(), "https://other.example/");
        assert_eq!(there(b"http://example.com/").unwrap(), "http://example.com/");
        assert_eq!(there(b"//127.0.0.1:6379/"), Err(UrlRefusal::OutOfBounds));
        assert_eq!(there(b"data:text/html,x"), Err(UrlRefusal::OutOfBounds));
        assert_eq!(there(b"/\xff"), Err(UrlRefusal::Unreadable));
    }

    #[test]
    fn the_request_names_the_host_as_the_url_does() {
        let destination = Destination::read("http://Example.com:443/a?b=c#d").unwrap();
        assert_eq!(destination.authority(), "example.com:443");
        assert_eq!(destination.resource(), "/a?b=c");
        assert_eq!(
            Destination::read("https://example.com:443").unwrap().authority(),
            "example.com"
        );
        assert_eq!(Destination::read("http://[2A00::1]/").unwrap().authority(), "[2a00::1]");
    }

    proptest! {
        #[test]
        fn every_path_and_query_can_be_asked_for(tail in "[ -~é]{0,40}") {
            let text = format!("http://example.com/{tail}");
            prop_assume!(Url::parse(&text).is_ok());
            prop_assert!(Destination::read(&text).is_ok(), "{text}");
        }
    }
}
