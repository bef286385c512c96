//! Host names of requests: which spellings are valid, and the normalised one; and the stricter names
//! that a workspace may have as its own. Nothing here knows which header or target a host came from.

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
pub fn plain_host(field: &[u8]) -> Option<&str> {
    let is_plain = |byte: u8| PLAIN.get(usize::from(byte)).is_some_and(|is_plain| *is_plain);
    let length = field.iter().position(|byte| !is_plain(*byte)).unwrap_or(field.len());
    let (host, port) = field.split_at_checked(length)?;
    let is_port = match port {
        [] => true,
        [b':', digits @ ..] => {
            let fits = digits.len() < 5 || (digits.len() == 5 && digits <= b"65535".as_slice());
            fits && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    let is_host = is_port && (1..=253).contains(&length) && host.last() != Some(&b'.');
    // Only now, since what follows the host need not be read as a text.
    if is_host { std::str::from_utf8(host).ok() } else { None }
}

/// The bytes of a normalised host. A table, since every redirect looks at every byte of its host.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let is_plain = matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
        #[expect(
            clippy::indexing_slicing,
            clippy::as_conversions,
            reason = "const code; it is below 128"
        )]
        {
            plain[byte as usize] = is_plain;
        }
        byte += 1;
    }
    plain
};

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

/// Why a text is not a name that a workspace may have as its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnHostError {
    #[error("a host is a name such as go.example.com: write one")]
    Empty,
    #[error("a host has no port: leave out the colon and what follows it")]
    Port,
    #[error("a host has no dot at its end: leave it out")]
    TrailingDot,
    #[error(
        "a host has letters a to z, digits, dots and hyphens only: write other letters in punycode, \
         such as xn--bcher-kva.example for b\u{fc}cher.example"
    )]
    Characters,
    #[error(
        "between its dots a host has 1 to 63 characters, no hyphen first or last, and 253 in all"
    )]
    Label,
    #[error("a host has at least two parts, such as go.example.com")]
    SingleLabel,
    #[error("a host is a name such as go.example.com, not an IP address")]
    Address,
}

/// The name that a workspace may have as its host, in lower case: letters, digits, dots and hyphens,
/// at least two labels, the last of which begins with a letter. Punycode is ASCII like any other name.
pub fn own_host(text: &str) -> Result<String, OwnHostError> {
    if text.is_empty() {
        return Err(OwnHostError::Empty);
    }
    if text.starts_with('[') || text.parse::<std::net::IpAddr>().is_ok() {
        return Err(OwnHostError::Address);
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    if let Some((name, port)) = text.rsplit_once(':')
        && name.bytes().all(is_name)
        && port.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(OwnHostError::Port);
    }
    if !text.bytes().all(is_name) {
        return Err(OwnHostError::Characters);
    }
    if text.ends_with('.') {
        return Err(OwnHostError::TrailingDot);
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    if text.len() > 253 || !text.split('.').all(is_label) {
        return Err(OwnHostError::Label);
    }
    let Some((_, last)) = text.rsplit_once('.') else { return Err(OwnHostError::SingleLabel) };
    // Browsers read a name whose last label is a number, such as 0x7f.1, as an IPv4 address.
    if !last.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Err(OwnHostError::Address);
    }
    Ok(text.to_ascii_lowercase())
}

/// Whether `host` is `domain` or a name below it; both in lower case.
pub fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspaces_host_is_a_plain_name_of_several_labels() {
        let long = format!("{}.example", "a".repeat(64));
        let whole = format!("{}example", "abcdefgh.".repeat(30));
        for (text, expected) in [
            ("go.acme.example", Ok("go.acme.example")),
            ("GO.Acme.example", Ok("go.acme.example")),
            ("xn--bcher-kva.example", Ok("xn--bcher-kva.example")),
            ("1.2.3.example", Ok("1.2.3.example")),
            ("", Err(OwnHostError::Empty)),
            ("go.acme.example.", Err(OwnHostError::TrailingDot)),
            ("go.acme.example:443", Err(OwnHostError::Port)),
            ("go.acme.example:", Err(OwnHostError::Port)),
            ("*.acme.example", Err(OwnHostError::Characters)),
            ("b\u{fc}cher.example", Err(OwnHostError::Characters)),
            ("a_b.example", Err(OwnHostError::Characters)),
            ("https://a.example", Err(OwnHostError::Characters)),
            ("a.example/x", Err(OwnHostError::Characters)),
            ("u@a.example", Err(OwnHostError::Characters)),
            ("a\0.example", Err(OwnHostError::Characters)),
            ("a b.example", Err(OwnHostError::Characters)),
            ("a..example", Err(OwnHostError::Label)),
            (".a.example", Err(OwnHostError::Label)),
            ("-a.example", Err(OwnHostError::Label)),
            ("a-.example", Err(OwnHostError::Label)),
            (&long, Err(OwnHostError::Label)),
            (&whole, Err(OwnHostError::Label)),
            ("localhost", Err(OwnHostError::SingleLabel)),
            ("127.0.0.1", Err(OwnHostError::Address)),
            ("0x7f.1", Err(OwnHostError::Address)),
            ("1.0x7f", Err(OwnHostError::Address)),
            ("::1", Err(OwnHostError::Address)),
            ("[::1]:80", Err(OwnHostError::Address)),
        ] {
            assert_eq!(own_host(text), expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn a_domain_holds_itself_and_the_names_below_it() {
        for (host, is_in) in [
            ("kurz.example", true),
            ("www.kurz.example", true),
            ("a.b.kurz.example", true),
            ("notkurz.example", false),
            ("example", false),
            ("kurz.example.evil", false),
        ] {
            assert_eq!(is_within(host, "kurz.example"), is_in, "{host}");
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
}
