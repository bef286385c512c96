//! The host of a request, from its target, `:authority` or Host field. Choosing the workspace of a host is not done here.
//! Invariant: one request has one host. Where the target, `:authority` and Host could be read
//! differently by a proxy in front of kurz, the request is refused.

use std::borrow::Cow;

use http::{HeaderMap, Request, Version, header::HOST};
use kurz_core::host_name::{normalise_host, plain_host, without_port};

/// Why a request has no unambiguous host. Each is answered with a 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Neither a Host field nor an authority in the target, or HTTP/1.1 without the field.
    #[error("the request names no host")]
    Missing,
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
        (Some(host), _) | (None, Some(host)) => without_port(host).ok_or(HostError::Malformed),
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

/// The normalised host of a request: [`request_host`] and then [`normalise_host`], with one pass for a
/// Host field that is normalised already, as nearly all are.
pub fn host_of<T>(request: &Request<T>) -> Result<Cow<'_, str>, HostError> {
    if request.uri().authority().is_none()
        && let Some(host) =
            host_field(request.headers())?.and_then(|field| plain_host(field.as_bytes()))
    {
        return Ok(Cow::Borrowed(host));
    }
    normalise_host(request_host(request)?).ok_or(HostError::Malformed)
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
    fn a_plain_host_field_gives_the_same_host_as_the_general_case() {
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
