//! Host names of requests: which spellings are valid, and the normalised one. Nothing here knows which
//! header or target a host came from.

use std::borrow::Cow;

/// The host in `text`, which may be followed by a port; `None` when either is malformed. An IPv6
/// address keeps its brackets.
pub fn without_port(text: &str) -> Option<&str> {
    let (host, port) = match text.rfind(']') {
        Some(end) => text.split_at_checked(end + 1)?,
        None => text.split_at_checked(text.find(':').unwrap_or(text.len())).unwrap_or((text, "")),
    };
    (is_port(port) && is_host(host)).then_some(host)
}

/// Empty, or a colon and a number from 0 to 65535 in digits.
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

/// The host in `field` when it is normalised already and can be checked in one pass, as with nearly all
/// requests: lower-case letters, digits, dots and hyphens, no dot at the end, and perhaps a port. For
/// every other field `None`; use [`without_port`] and [`normalise_host`] then.
#[inline]
pub fn plain_host(field: &str) -> Option<&str> {
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

/// The normalised spelling of a host: lower case, without the final dot of a fully qualified name.
/// `None` when it is no host. Allocates only when it has upper-case letters.
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
}
