//! What is kept of a `Referer`: its host, or the id of an Android app. Paths and queries can hold anything
//! about a visitor, so they are cut off before the value goes anywhere.

use std::borrow::Cow;

/// What a byte means in the host of a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostByte {
    Plain,
    /// It ends the host.
    End,
    /// It has to be looked at: a port, user information, an upper-case letter.
    Special,
}

#[expect(clippy::indexing_slicing, clippy::as_conversions, reason = "const: checked when compiled")]
const BYTES: [HostByte; 256] = {
    let mut bytes = [HostByte::Plain; 256];
    let mut at = 0;
    while at < 26 {
        bytes[b'A' as usize + at] = HostByte::Special;
        at += 1;
    }
    bytes[b'/' as usize] = HostByte::End;
    bytes[b'?' as usize] = HostByte::End;
    bytes[b'#' as usize] = HostByte::End;
    bytes[b'\\' as usize] = HostByte::End;
    bytes[b'@' as usize] = HostByte::Special;
    bytes[b':' as usize] = HostByte::Special;
    bytes[b'[' as usize] = HostByte::Special;
    bytes
};

/// The host in a `Referer`, in lower case, without `www.`, port and final dot; of `android-app://` the id of
/// the app. Empty when there is none. Any bytes may be in it.
#[inline]
pub fn referrer_host(field: &[u8]) -> Cow<'_, [u8]> {
    let Some(rest) = after_scheme(field) else { return Cow::Borrowed(b"") };
    let byte = |byte: &u8| BYTES.get(usize::from(*byte)).copied().unwrap_or(HostByte::Special);
    let host = match rest.iter().map(byte).position(|byte| byte != HostByte::Plain) {
        None => rest,
        Some(at) if rest.get(at).map(byte) == Some(HostByte::End) => {
            rest.get(..at).unwrap_or_default()
        }
        Some(_) => return Cow::Owned(special_host(rest)),
    };
    Cow::Borrowed(without_www(host))
}

#[inline]
fn after_scheme(field: &[u8]) -> Option<&[u8]> {
    let rest = field.strip_prefix(b"https://").or_else(|| field.strip_prefix(b"http://"));
    rest.or_else(|| after_other_scheme(field))
}

/// The same for a scheme in upper case, and for apps.
#[cold]
fn after_other_scheme(field: &[u8]) -> Option<&[u8]> {
    [&b"https://"[..], b"http://", b"android-app://"].into_iter().find_map(|scheme| {
        let (start, rest) = field.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

/// The host at the start of `rest`, which may have user information, a port and upper-case letters.
#[cold]
fn special_host(rest: &[u8]) -> Vec<u8> {
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'));
    let authority = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    let host = authority.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    // The colons of an IPv6 address are in brackets.
    let address_end = host.iter().position(|byte| *byte == b']').filter(|_| host.starts_with(b"["));
    let host_end = match address_end {
        Some(end) => Some(end + 1),
        None => host.iter().position(|byte| *byte == b':'),
    };
    let host = host_end.and_then(|end| host.get(..end)).unwrap_or(host);
    without_www(&host.to_ascii_lowercase()).to_vec()
}

#[inline]
fn without_www(host: &[u8]) -> &[u8] {
    let host = host.strip_suffix(b".").unwrap_or(host);
    host.strip_prefix(b"www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_but_the_host_is_kept() {
        let cases: &[(&str, &str)] = &[
            ("https://social.example/feed", "social.example"),
            ("http://social.example", "social.example"),
            ("https://www.google.com/", "google.com"),
            ("https://WWW.Google.COM/search?q=secret", "google.com"),
            ("HTTPS://News.example/", "news.example"),
            ("https://a.example:8443/x", "a.example"),
            ("https://a.example?secret", "a.example"),
            ("https://a.example#secret", "a.example"),
            ("https://a.example\\secret", "a.example"),
            ("https://a.example./x", "a.example"),
            ("https://user:password@a.example/x", "a.example"),
            ("https://user@a.example:80/x", "a.example"),
            ("https://a.example/@secret:x", "a.example"),
            ("https://a.example/SECRET", "a.example"),
            ("https://A.example/SECRET@b", "a.example"),
            ("https://[2001:DB8::1]:8080/x", "[2001:db8::1]"),
            ("https://192.0.2.1:80/", "192.0.2.1"),
            ("android-app://com.google.android.gm/", "com.google.android.gm"),
            (
                "android-app://com.google.android.googlequicksearchbox",
                "com.google.android.googlequicksearchbox",
            ),
            ("android-app://com.Slack/x", "com.slack"),
            ("https://xn--mller-kva.example/", "xn--mller-kva.example"),
            ("https://", ""),
            ("https:///path", ""),
            ("https://www./", "www"),
            ("http:", ""),
            ("", ""),
            ("about:blank", ""),
            ("/relative", ""),
            ("ftp://a.example/", ""),
            ("a.example", ""),
        ];
        for (field, host) in cases {
            let found = referrer_host(field.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), *host, "{field}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_end_where_the_host_does() {
        assert_eq!(&*referrer_host(b"https://\xff\xfe.example/\xff"), b"\xff\xfe.example");
        let long = [b"https://".as_slice(), &[b'a'; 16_384]].concat();
        assert_eq!(referrer_host(&long).len(), 16_384, "cut when it is interned");
    }

    proptest! {
        #[test]
        fn no_path_query_or_user_is_ever_kept(
            user in "[a-zA-Z0-9:]{0,8}@|",
            host in "[a-zA-Z0-9.-]{0,20}",
            port in ":[0-9]{1,5}|",
            rest in "([/?#].*)?",
        ) {
            let field = format!("https://{user}{host}{port}{rest}");
            let found = referrer_host(field.as_bytes()).into_owned();
            let host = host.to_ascii_lowercase();
            let expected = host.strip_suffix('.').unwrap_or(&host);
            let expected = expected.strip_prefix("www.").unwrap_or(expected);
            prop_assert_eq!(String::from_utf8(found).unwrap(), expected);
        }
    }
}
