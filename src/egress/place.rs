//! What of a URL may be visited, decided from its text alone. It looks nothing up: a name is judged
//! by its addresses, later. The text is read the way browsers read it, so that no spelling of an
//! address means one thing here and another elsewhere.
//!
//! Invariant: a [`Place`] is http or https, on port 80 or 443, without credentials, and its host is
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
pub(super) enum Refusal {
    /// Nobody can follow it.
    Unreadable,
    /// kurz does not go there.
    OutOfBounds,
}

/// Who answers at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// To be looked up: lower case, without a dot at its end.
    Name(String),
    /// To be vetted as it is.
    Address(IpAddr),
}

/// A URL that may be visited.
#[derive(Clone, Debug)]
pub(super) struct Place {
    url: Url,
    who: Who,
    port: u16,
    resource: PathAndQuery,
}

impl Place {
    /// Read a whole URL.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        if text.len() > MAX_URL_BYTES {
            return Err(Refusal::Unreadable);
        }
        Self::judge(Url::parse(text).map_err(|_| Refusal::Unreadable)?)
    }

    /// Read a `Location` that was given here.
    pub(super) fn follow(&self, location: &[u8]) -> Result<Self, Refusal> {
        let text = str::from_utf8(location).map_err(|_| Refusal::Unreadable)?;
        if text.len() > MAX_URL_BYTES {
            return Err(Refusal::Unreadable);
        }
        Self::judge(self.url.join(text).map_err(|_| Refusal::Unreadable)?)
    }

    fn judge(url: Url) -> Result<Self, Refusal> {
        let ("http" | "https", Some(port @ (80 | 443))) =
            (url.scheme(), url.port_or_known_default())
        else {
            return Err(Refusal::OutOfBounds);
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::OutOfBounds);
        }
        let who = match url.host().ok_or(Refusal::Unreadable)? {
            Host::Ipv4(address) => Who::Address(address.into()),
            Host::Ipv6(address) => Who::Address(address.into()),
            Host::Domain(name) => Who::Name(judge_name(name)?),
        };
        let resource = url[Position::BeforePath..Position::AfterQuery].parse();
        let resource = resource.map_err(|_| Refusal::Unreadable)?;
        Ok(Self { url, who, port, resource })
    }

    pub(super) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(super) fn who(&self) -> &Who {
        &self.who
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

fn judge_name(name: &str) -> Result<String, Refusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let too_long = name.len() > 253 || name.split('.').any(|label| label.len() > 63);
    if too_long || name.split('.').any(str::is_empty) {
        return Err(Refusal::Unreadable);
    }
    let ends_in = |near: &&str| name.strip_suffix(*near).is_some_and(|rest| rest.ends_with('.'));
    // A name without a dot is a neighbour's, or a top-level domain, which holds no pages.
    if !name.contains('.') || NEAR.iter().any(ends_in) || NEAR.contains(&name) {
        return Err(Refusal::OutOfBounds);
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn who(text: &str) -> Result<Who, Refusal> {
        Place::read(text).map(|place| place.who)
    }

    #[test]
    fn what_may_be_visited_is_read_as_browsers_read_it() {
        let name = |name: &str| Ok(Who::Name(name.to_owned()));
        let address = |text: &str| Ok(Who::Address(text.parse().unwrap()));
        let out = Err(Refusal::OutOfBounds);
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
            ("http://example.com:65536/", Err(Refusal::Unreadable)),
            ("http://a..example/", Err(Refusal::Unreadable)),
            ("http://127.0.0.1.5/", Err(Refusal::Unreadable)),
            ("example.com", Err(Refusal::Unreadable)),
            ("http://[::1/", Err(Refusal::Unreadable)),
        ];
        for (text, expected) in cases {
            assert_eq!(who(text), expected, "{text}");
        }
        let long = format!("http://example.com/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(who(&long), Err(Refusal::Unreadable));
    }

    #[test]
    fn a_location_is_relative_to_where_it_was_given() {
        let here = Place::read("https://example.com/a/b?c").unwrap();
        let there = |location: &[u8]| here.follow(location).map(|place| place.url.to_string());
        assert_eq!(there(b"d").unwrap(), "https://example.com/a/d");
        assert_eq!(there(b"//other.example/").unwrap(), "https://other.example/");
        assert_eq!(there(b"http://example.com/").unwrap(), "http://example.com/");
        assert_eq!(there(b"//127.0.0.1:6379/"), Err(Refusal::OutOfBounds));
        assert_eq!(there(b"data:text/html,x"), Err(Refusal::OutOfBounds));
        assert_eq!(there(b"/\xff"), Err(Refusal::Unreadable));
    }

    #[test]
    fn the_request_names_the_host_as_the_url_does() {
        let place = Place::read("http://Example.com:443/a?b=c#d").unwrap();
        assert_eq!(place.authority(), "example.com:443");
        assert_eq!(place.resource(), "/a?b=c");
        assert_eq!(Place::read("https://example.com:443").unwrap().authority(), "example.com");
        assert_eq!(Place::read("http://[2A00::1]/").unwrap().authority(), "[2a00::1]");
    }

    proptest! {
        #[test]
        fn every_path_and_query_can_be_asked_for(tail in "[ -~é]{0,40}") {
            let text = format!("http://example.com/{tail}");
            prop_assume!(Url::parse(&text).is_ok());
            prop_assert!(Place::read(&text).is_ok(), "{text}");
        }
    }
}
