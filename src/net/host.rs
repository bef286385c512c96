//! The host of a request, from its target, `:authority` or Host field.
//!
//! Invariant: a request has one host. Where a proxy in front of us could read these differently, the
//! request is refused.

use std::borrow::Cow;

use http::{HeaderMap, Request, Version, header::HOST};

/// Why the host of a request is ambiguous or missing; each is answered with 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Neither a Host field nor an authority in the target, or HTTP/1.1 without the field.
    #[error("the request names no host")]
    Missing,
    /// More than one Host field.
    #[error("the request has more than one Host field")]
    Several,
    /// The Host field and the target name different hosts.
    #[error("the Host field and the target differ")]
    Different,
    /// Not a host: user information, a bad port, or a character that no host has.
    #[error("the host is malformed")]
    Malformed,
}

/// The host that `request` is for, without its port, in the client's spelling. An IPv6 address
/// keeps its brackets.
pub fn request_host<T>(request: &Request<T>) -> Result<&str, HostError> {
    let field = host_field(request.headers())?;
    let authority = request.uri().authority().map(http::uri::Authority::as_str);
    match (authority, field) {
        (None, None) => Err(HostError::Missing),
        // RFC 9112, 3.2: HTTP/1.1 has the field whatever the target's form; HTTP/2 has no need of it.
        (Some(_), None) if request.version() == Version::HTTP_11 => Err(HostError::Missing),
        (Some(authority), Some(field)) if !authority.eq_ignore_ascii_case(field) => {
            Err(HostError::Different)
        }
        (Some(host), _) | (None, Some(host)) => without_port(host),
    }
}

fn host_field(headers: &HeaderMap) -> Result<Option<&str>, HostError> {
    let mut fields = headers.get_all(HOST).iter();
    let Some(field) = fields.next() else { return Ok(None) };
    if fields.next().is_some() {
        return Err(HostError::Several);
    }
    field.to_str().map(Some).map_err(|_| HostError::Malformed)
}

fn without_port(host: &str) -> Result<&str, HostError> {
    let (host, port) = match host.rfind(']') {
        Some(end) => host.split_at_checked(end + 1).ok_or(HostError::Malformed)?,
        None => host.split_at_checked(host.find(':').unwrap_or(host.len())).unwrap_or((host, "")),
    };
    if is_port(port) && is_host(host) { Ok(host) } else { Err(HostError::Malformed) }
}

/// Nothing, or a colon and a number from 0 to 65535 in digits.
fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| {
            port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
        })
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').unwrap_or_default();
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    !host.is_empty()
        && host.len() <= 254
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

/// The host of a request, in its one spelling. The same as [`request_host`] and then
/// [`normalise_host`]; a Host field that needs no change, as nearly all do, is read in one pass.
pub fn host_of<T>(request: &Request<T>) -> Result<Cow<'_, str>, HostError> {
    if request.uri().authority().is_none()
        && let Some(host) = host_field(request.headers())?.and_then(plain_host)
    {
        return Ok(Cow::Borrowed(host));
    }
    normalise_host(request_host(request)?).ok_or(HostError::Malformed)
}

/// The host of a field that holds only what is surely right: lower-case letters, digits, dots
/// and hyphens, not a dot at the end, and perhaps a port.
pub(super) fn plain_host(field: &str) -> Option<&str> {
    let is_plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    let length = field.bytes().position(|byte| !is_plain(&byte)).unwrap_or(field.len());
    let (host, port) = field.split_at_checked(length)?;
    let is_port = match port.as_bytes() {
        [] => true,
        [b':', digits @ ..] => {
            let fits = digits.len() < 5 || (digits.len() == 5 && digits <= b"65535".as_slice());
            fits && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    (is_port && (1..=253).contains(&length) && !host.ends_with('.')).then_some(host)
}

/// The one spelling of a host: lower case, without the dot of a full name. `None` when it is no
/// host. Allocates only where the spelling changes by more than the dot.
pub fn normalise_host(host: &str) -> Option<Cow<'_, str>> {
    if !is_host(host) {
        return None;
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.ends_with('.') {
        return None;
    }
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Some(Cow::Owned(host.to_ascii_lowercase()));
    }
    Some(Cow::Borrowed(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, version: Version, hosts: &[&str]) -> Request<()> {
        let mut request = Request::builder().uri(target).version(version);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        request.body(()).unwrap()
    }

    // threats: D2
    #[test]
    fn the_host_of_a_request_is_the_one_that_every_reader_would_find() {
        let v1 = Version::HTTP_11;
        for (target, version, hosts, expected) in [
            ("/", v1, &["a.example"][..], Ok("a.example")),
            ("/", v1, &["A.Example:8080"], Ok("A.Example")),
            ("/", v1, &["a.example."], Ok("a.example.")),
            ("/", v1, &["[::1]:80"], Ok("[::1]")),
            ("/", v1, &["[::1]"], Ok("[::1]")),
            ("/", v1, &[], Err(HostError::Missing)),
            ("/", Version::HTTP_10, &[], Err(HostError::Missing)),
            ("/", v1, &["a", "a"], Err(HostError::Several)),
            ("/", v1, &[""], Err(HostError::Malformed)),
            ("/", v1, &["u@a"], Err(HostError::Malformed)),
            ("/", v1, &["a:"], Err(HostError::Malformed)),
            ("/", v1, &["a:+80"], Err(HostError::Malformed)),
            ("/", v1, &["a:65536"], Err(HostError::Malformed)),
            ("/", v1, &["a:80:80"], Err(HostError::Malformed)),
            ("/", v1, &["a b"], Err(HostError::Malformed)),
            ("/", v1, &["a/b"], Err(HostError::Malformed)),
            ("/", v1, &["[::1]x"], Err(HostError::Malformed)),
            ("/", v1, &["::1"], Err(HostError::Malformed)),
            ("/", v1, &["[a]"], Err(HostError::Malformed)),
            ("http://a:80/", v1, &["A:80"], Ok("a")),
            ("http://a/", v1, &["b"], Err(HostError::Different)),
            ("http://a:80/", v1, &["a"], Err(HostError::Different)),
            ("http://a/", v1, &[], Err(HostError::Missing)),
            ("http://u@a/", v1, &["u@a"], Err(HostError::Malformed)),
            ("http://a/", Version::HTTP_2, &[], Ok("a")),
            ("http://a/", Version::HTTP_2, &["b"], Err(HostError::Different)),
        ] {
            let request = request(target, version, hosts);
            assert_eq!(request_host(&request), expected, "{target} {hosts:?}");
        }
    }

    // threats: D2
    #[test]
    fn a_normal_host_is_lower_case_without_its_last_dot_and_borrowed_where_it_can_be() {
        for (host, expected) in [
            ("a.example", Some("a.example")),
            ("A.EXAMPLE.", Some("a.example")),
            ("a.example.", Some("a.example")),
            ("[::1]", Some("[::1]")),
            ("a.example..", None),
            (".", None),
            ("", None),
            ("a:80", None),
            ("ä", None),
        ] {
            assert_eq!(normalise_host(host).as_deref(), expected, "{host}");
        }
        assert!(matches!(normalise_host("a.example."), Some(Cow::Borrowed(_))));
    }

    #[test]
    fn the_short_way_to_a_host_gives_what_the_long_way_gives() {
        let long = "a".repeat(254);
        for host in [
            "a.example",
            "a.example:80",
            "a.example:65535",
            "a.example:65536",
            "a.example:",
            "a:1",
            "A.example",
            "a.example.",
            "a_b.example",
            "-",
            ".",
            "",
            ":80",
            "[::1]:80",
            "a b",
            "a/b",
            "a:8o",
            "a:99999",
            "127.0.0.1:8080",
            "localhost",
            "a..b",
            "a.:80",
            &long,
            &long[1..],
        ] {
            for target in ["/", "http://a.example/"] {
                let request = request(target, Version::HTTP_11, &[host]);
                let slow = request_host(&request)
                    .and_then(|host| normalise_host(host).ok_or(HostError::Malformed));
                assert_eq!(host_of(&request), slow, "{host} {target}");
            }
        }
    }
}
