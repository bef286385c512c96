//! The public URL: scheme, host and port that users see. Targets of links are parsed by
//! `code::canonical`.
//!
//! Invariant: it has a host, and no user, path, query or fragment.

use std::fmt;
use std::net::SocketAddr;

use url::Url;

use super::value_parser::{ValueForm, ValueParser};

/// Scheme, host and port, such as `https://kurz.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    /// Without a slash at the end.
    origin: String,
    scheme_length: usize,
}

impl PublicUrl {
    /// `http://` or `https://`, a host, and optionally a port and a slash.
    pub fn parse(text: &str) -> Option<Self> {
        // `Url` would silently drop tabs, accept `http:host` and turn backslashes into slashes.
        let rejected = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        let (scheme, rest) = text.split_once("://")?;
        if text.contains(rejected) || rest.starts_with('/') {
            return None;
        }
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let is_origin = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !is_origin || rest.contains('@') {
            return None;
        }
        let origin = url.as_str().trim_end_matches('/').to_owned();
        Some(Self { origin, scheme_length: scheme.len() })
    }

    /// The URL of a listener.
    pub fn of(scheme: &str, bound: SocketAddr) -> Self {
        Self::parse(&format!("{scheme}://{bound}"))
            .expect("an address with a port is a URL's authority")
    }

    /// Scheme, host and port, without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.origin.split_at(self.scheme_length).0
    }

    /// The host alone, without a port.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        let port = self.port().map_or(0, |port| port.len() + 1);
        authority.get(..authority.len() - port).unwrap_or(authority)
    }

    /// The same scheme and port at another host.
    pub fn at_host(&self, host: &str) -> String {
        let scheme = self.scheme();
        match self.port() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }
    }

    /// The port, or the scheme's default port.
    pub fn effective_port(&self) -> u16 {
        let default = if self.scheme() == "https" { 443 } else { 80 };
        self.port().and_then(|port| port.parse().ok()).unwrap_or(default)
    }

    fn port(&self) -> Option<&str> {
        // An IPv6 address contains colons too, and ends with a bracket.
        let (_, port) = self.authority().rsplit_once(':')?;
        (!port.ends_with(']')).then_some(port)
    }

    /// Host and port as in a `Host` header: without the scheme's default port.
    pub fn authority(&self) -> &str {
        self.origin.split_at(self.scheme_length + "://".len()).1
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

pub(super) fn parser() -> ValueParser<PublicUrl> {
    let accepts = "http:// or https://, a host and optionally a port, such as https://kurz.example, \
                   without user, path or query";
    ValueParser::new(ValueForm::Text, accepts, PublicUrl::parse)
        .redact_if(|text| text.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_host_and_port_are_normalized() {
        let table = [
            ("https://kurz.example", "https://kurz.example", "kurz.example"),
            ("https://Kurz.Example/", "https://kurz.example", "kurz.example"),
            ("http://kurz.example:80", "http://kurz.example", "kurz.example"),
            ("HTTPS://kurz.example:8443/", "https://kurz.example:8443", "kurz.example:8443"),
            ("http://[::1]:8080", "http://[::1]:8080", "[::1]:8080"),
            ("https://bücher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"),
        ];
        for (text, whole, authority) in table {
            let url = PublicUrl::parse(text).unwrap();
            assert_eq!((url.as_str(), url.authority()), (whole, authority), "{text}");
            assert_eq!(url.scheme(), whole.split_once(':').unwrap().0);
        }
    }

    #[test]
    fn whatever_is_not_an_origin_is_refused() {
        let table = [
            "",
            "kurz.example",
            "http:kurz.example",
            "http:///kurz.example",
            "ftp://kurz.example",
            "https://",
            "https://kurz.example/go",
            "https://kurz.example/?a",
            "https://kurz.example?",
            "https://kurz.example/#a",
            "https://user@kurz.example",
            "https://user:pass@kurz.example",
            "https://@kurz.example",
            "https://ku\trz.example",
            "https:\\\\kurz.example",
            " https://kurz.example",
        ];
        for text in table {
            assert_eq!(PublicUrl::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn another_host_keeps_scheme_and_port() {
        let table = [
            ("https://kurz.example", "kurz.example", "https://go.example"),
            ("http://127.0.0.1:8080", "127.0.0.1", "http://go.example:8080"),
            ("http://[::1]:8080", "[::1]", "http://go.example:8080"),
            ("http://[::1]", "[::1]", "http://go.example"),
        ];
        for (text, host, other) in table {
            let url = PublicUrl::parse(text).unwrap();
            assert_eq!((url.host(), url.at_host("go.example").as_str()), (host, other), "{text}");
        }
    }

    #[test]
    fn a_listener_has_a_public_url() {
        let url = PublicUrl::of("http", "[::1]:80".parse().unwrap());
        assert_eq!((url.as_str(), url.authority()), ("http://[::1]", "[::1]"));
        assert_eq!(url.effective_port(), 80);
        let url = |port| PublicUrl::of("https", SocketAddr::from(([127, 0, 0, 1], port)));
        assert_eq!(url(8443).as_str(), "https://127.0.0.1:8443");
        assert_eq!(url(443).as_str(), "https://127.0.0.1");
        assert_eq!((url(443).effective_port(), url(8443).effective_port()), (443, 8443));
    }
}
