//! The host in a `Referer`, as a part of the field, so that nothing is allocated. What analytics keep of it is in
//! `clicks`.

/// The host or the Android app, without `www.`, port and final dot, in the case of the field; empty when there is
/// none.
pub(super) fn host_in(field: &[u8]) -> &[u8] {
    let schemes = [&b"https://"[..], b"http://", b"android-app://"];
    let rest = schemes.into_iter().find_map(|scheme| {
        let (start, rest) = field.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let rest = rest.unwrap_or_default();
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
    let host = host.strip_suffix(b".").unwrap_or(host);
    match host.split_at_checked(4) {
        Some((start, rest)) if start.eq_ignore_ascii_case(b"www.") => rest,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clicks::referrer_host;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_host_that_analytics_keep() {
        for field in [
            "https://social.example/feed",
            "https://WWW.Google.COM/search?q=secret",
            "https://user:password@a.example:8443/x",
            "https://[2001:DB8::1]:8080/x",
            "android-app://com.google.android.gm/",
            "https://a.example./x",
            "http://[:",
            "ftp://a.example/",
            "https://",
            "",
        ] {
            let lower = host_in(field.as_bytes()).to_ascii_lowercase();
            assert_eq!(lower, referrer_host(field.as_bytes()).to_ascii_lowercase(), "{field}");
        }
    }

    proptest! {
        #[test]
        fn any_field_gives_the_same_host_as_for_analytics(field in "(https?://)?[a-zA-Z@:./?#\\[\\]-]{0,30}") {
            let lower = host_in(field.as_bytes()).to_ascii_lowercase();
            prop_assert_eq!(lower, referrer_host(field.as_bytes()).to_ascii_lowercase());
        }
    }
}
