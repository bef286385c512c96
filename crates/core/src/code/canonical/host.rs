//! The host and port of a canonical form (C5, C6).
//!
//! Which hosts are allowed is decided elsewhere: `localhost` is valid here. Hosts are parsed by the
//! `url` crate, with a fast case for the plain ASCII names of nearly all URLs. Invariant: a written host
//! is parsed to itself.

use url::Host;

use super::{MAX_BYTES, UrlError};

/// The most characters of a label that IDNA encodes or decodes: as many as a whole domain name may
/// have. IDNA takes time quadratic in a label, milliseconds for the longest that fit a URL.
const MAX_IDNA_LABEL: usize = 253;

/// The characters that IDNA takes for a dot.
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// Splits an authority without userinfo into host and port text; `None` without a colon.
pub(super) fn split_port(authority: &str) -> Result<(&str, Option<&str>), UrlError> {
    // The colons of an IPv6 address are inside its brackets.
    let address = if authority.starts_with('[') {
        authority.find(']').ok_or(UrlError::HostInvalid)? + 1
    } else {
        0
    };
    let rest = authority.get(address..).unwrap_or_default();
    match rest.bytes().position(|byte| byte == b':') {
        Some(colon) => {
            let host = authority.get(..address + colon).unwrap_or_default();
            Ok((host, rest.get(colon + 1..)))
        }
        None => Ok((authority, None)),
    }
}

/// Parses a port; `None` when there is none or it is empty.
pub(super) fn port(text: Option<&str>) -> Result<Option<u16>, UrlError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    // Parsing alone would take a plus sign.
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(UrlError::PortInvalid);
    }
    text.parse().map(Some).map_err(|_| UrlError::PortInvalid)
}

/// Writes `host`.
pub(super) fn push(out: &mut Vec<u8>, host: &str) -> Result<(), UrlError> {
    if host.is_empty() {
        return Err(UrlError::HostEmpty);
    }
    if is_plain(host) {
        let start = out.len();
        out.extend_from_slice(host.as_bytes());
        out.get_mut(start..).unwrap_or_default().make_ascii_lowercase();
        return Ok(());
    }
    // The standard would decode an escape; here it is refused, so that a host has one spelling.
    if host.contains('%') {
        return Err(UrlError::HostInvalid);
    }
    let text = parse(host)?;
    if text.len() > MAX_BYTES {
        return Err(UrlError::TooLong);
    }
    // A long label within the bound may have a punycode form past it, which would be refused as an
    // input, and so is no canonical form.
    if text != host && parse(&text).as_ref() != Ok(&text) {
        return Err(UrlError::HostInvalid);
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Whether a written host is an address, or a name that DNS can hold.
pub(super) fn is_reachable(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    host.starts_with('[')
        || name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()))
}

fn parse(host: &str) -> Result<String, UrlError> {
    if host.split(DOTS).any(|label| is_for_idna(label) && label.chars().count() > MAX_IDNA_LABEL) {
        return Err(UrlError::HostInvalid);
    }
    match Host::parse(host) {
        Ok(Host::Domain(domain)) => Ok(domain),
        Ok(address) => Ok(address.to_string()),
        // A host of nothing but characters that IDNA drops, such as soft hyphens.
        Err(url::ParseError::EmptyHost) => Err(UrlError::HostEmpty),
        Err(_) => Err(UrlError::HostInvalid),
    }
}

/// Whether IDNA has a label to encode or to decode.
fn is_for_idna(label: &str) -> bool {
    let start = label.as_bytes().first_chunk::<4>();
    !label.is_ascii() || start.is_some_and(|start| start.eq_ignore_ascii_case(b"xn--"))
}

/// Whether lower-casing is all that the standard does to `host`: an ASCII name of ordinary
/// characters, without a punycode label to check, that cannot be an IPv4 address.
fn is_plain(host: &str) -> bool {
    let mut after_dash = false;
    let ordinary = host.bytes().all(|byte| {
        // Two dashes may be those of `xn--`; elsewhere they only lead to the slower case.
        let dashes = after_dash && byte == b'-';
        after_dash = byte == b'-';
        !dashes && (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
    });
    ordinary && ends_in_a_name(host)
}

/// Whether the last label starts with something other than a digit. One that starts with a digit
/// may be a number (`1`, `0x7f`), and then the host is an IPv4 address.
fn ends_in_a_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    last.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(host: &str) -> Result<String, UrlError> {
        let mut out = Vec::new();
        push(&mut out, host).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn hosts_are_written_in_one_spelling() {
        for (input, expected) in [
            ("Example.COM", "example.com"),
            ("example.com.", "example.com."),
            ("a_b.example", "a_b.example"),
            ("-a-.example", "-a-.example"),
            ("localhost", "localhost"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("0x7f.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("017700000001", "127.0.0.1"),
            ("127。0。0。1", "127.0.0.1"),
            ("①②⑦.⓪.⓪.①", "127.0.0.1"),
            ("0", "0.0.0.0"),
            ("1.2.3.4.", "1.2.3.4"),
            ("[::FFFF:127.0.0.1]", "[::ffff:7f00:1]"),
            ("[0:0:1:0:0:0:0:0]", "[0:0:1::]"),
            ("4chan.7up", "4chan.7up"),
        ] {
            assert_eq!(written(input).as_deref(), Ok(expected), "{input:?}");
            assert_eq!(written(expected).as_deref(), Ok(expected), "{expected:?} again");
        }
    }

    #[test]
    fn hosts_that_no_resolver_would_look_up_are_refused() {
        for bad in [
            "a b",
            "a|b",
            "a<b",
            "a^b",
            "%61",
            "a%2eb",
            "256.1.1.1",
            "1.2.3.4.5",
            "0x100000000",
            "[::1",
            "[1:2:3]",
            "[::1]x",
            "[::1%25eth0]",
            "a]",
            "xn--example-.org",
            "xn--a",
            "a／b",
            "a＠b",
            "\u{202e}a",
            "[v1.a]",
        ] {
            assert_eq!(written(bad), Err(UrlError::HostInvalid), "{bad:?}");
        }
        for empty in ["", "\u{ad}"] {
            assert_eq!(written(empty), Err(UrlError::HostEmpty), "{empty:?}");
        }
    }

    #[test]
    fn a_label_whose_punycode_would_be_refused_is_refused_itself() {
        // Punycode takes a little more than one letter for each of these, so 253 of them are too
        // many although they are within the bound themselves.
        let label = |length| -> String { ('\u{4e00}'..).take(length).collect() };
        let longest = (1..MAX_IDNA_LABEL).rev().find_map(|length| written(&label(length)).ok());
        assert_eq!(longest.unwrap().len(), MAX_IDNA_LABEL);
        assert_eq!(written(&label(MAX_IDNA_LABEL)), Err(UrlError::HostInvalid));
        assert_eq!(written(&label(999)), Err(UrlError::HostInvalid));
    }

    #[test]
    fn a_plain_label_may_have_any_length() {
        let label = "a".repeat(300);
        assert_eq!(written(&label), Ok(label));
    }

    #[test]
    fn ports_are_digits_up_to_65535() {
        for (input, expected) in [
            (None, Ok(None)),
            (Some(""), Ok(None)),
            (Some("0"), Ok(Some(0))),
            (Some("00008081"), Ok(Some(8081))),
            (Some("65535"), Ok(Some(65535))),
            (Some("65536"), Err(UrlError::PortInvalid)),
            (Some("+80"), Err(UrlError::PortInvalid)),
            (Some("-1"), Err(UrlError::PortInvalid)),
            (Some("8a"), Err(UrlError::PortInvalid)),
            (Some(":80"), Err(UrlError::PortInvalid)),
            (Some("８０"), Err(UrlError::PortInvalid)),
        ] {
            assert_eq!(port(input), expected, "{input:?}");
        }
    }

    #[test]
    fn an_address_in_brackets_keeps_its_colons() {
        assert_eq!(split_port("[::1]:80"), Ok(("[::1]", Some("80"))));
        assert_eq!(split_port("[::1]"), Ok(("[::1]", None)));
        assert_eq!(split_port("a:80"), Ok(("a", Some("80"))));
        assert_eq!(split_port("a:"), Ok(("a", Some(""))));
        assert_eq!(split_port(":80"), Ok(("", Some("80"))));
        assert_eq!(split_port("[::1"), Err(UrlError::HostInvalid));
    }

    proptest! {
        #[test]
        fn the_fast_case_gives_the_same_as_the_standard(host in "[a-cxnXN0-9._-]{1,12}") {
            prop_assume!(is_plain(&host));
            prop_assert_eq!(Ok(host.to_ascii_lowercase()), parse(&host));
        }

        #[test]
        fn a_written_host_is_written_again_as_it_is(host in "\\PC{1,12}") {
            if let Ok(host) = written(&host) {
                prop_assert_eq!(written(&host), Ok(host));
            }
        }
    }
}
