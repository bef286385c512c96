//! The `Location` of a target: the text as it was sent, made safe for a header. A plain ASCII target
//! is not changed; in any other, the host becomes punycode and each byte that a header or a URL cannot
//! contain becomes `%HH`.

use crate::code::canonical::Canonical;

/// The value of `Location` for `target`, whose canonical form is `canonical`.
pub fn location(target: &str, canonical: &Canonical) -> String {
    let target = target.trim_matches(|c: char| c <= ' ');
    if target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return target.to_owned();
    }
    let (head, rest) = split_authority(target);
    let mut out = String::with_capacity(target.len() * 2);
    if head.bytes().all(|byte| byte.is_ascii_graphic()) {
        out.push_str(head);
    } else {
        out.push_str(split_authority(canonical.as_str()).0);
    }
    for byte in rest.bytes() {
        if byte.is_ascii_graphic() {
            out.push(char::from(byte));
        } else {
            push_escaped(&mut out, byte);
        }
    }
    out
}

/// `scheme://authority`, and the rest.
fn split_authority(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url
        .char_indices()
        .find(|&(at, c)| at >= start && matches!(c, '/' | '?' | '#'))
        .map_or(url.len(), |(at, _)| at);
    url.split_at(end)
}

fn push_escaped(out: &mut String, byte: u8) {
    const HEX: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    out.push('%');
    for half in [byte >> 4, byte & 15] {
        out.extend(HEX.get(usize::from(half)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::canonical::canonicalise;
    use proptest::prelude::*;

    fn of(target: &str) -> String {
        location(target, &canonicalise(target).unwrap())
    }

    #[test]
    fn plain_targets_are_not_changed() {
        for target in [
            "https://example.com",
            "HTTP://Example.COM:80/a/../b//c/?z=1&a=2#frag",
            "https://example.com/%0d%0aSet-Cookie:x",
        ] {
            assert_eq!(of(target), target);
        }
    }

    #[test]
    fn other_targets_are_escaped_and_their_hosts_are_punycode() {
        assert_eq!(of(" https://example.com/a b\n"), "https://example.com/a%20b");
        assert_eq!(
            of("https://bücher.example/ü?q=é#ß"),
            "https://xn--bcher-kva.example/%C3%BC?q=%C3%A9#%C3%9F"
        );
        assert_eq!(of("https://exämple.com:8443"), "https://xn--exmple-cua.com:8443");
    }

    proptest! {
        #[test]
        fn a_location_is_always_a_legal_header_with_the_same_canonical_form(
            rest in "[/?#]\\PC{0,40}"
        ) {
            let target = format!("https://bücher.example{rest}");
            if let Ok(canonical) = canonicalise(&target) {
                let location = location(&target, &canonical);
                prop_assert!(location.bytes().all(|byte| byte.is_ascii_graphic()));
                let again = canonicalise(&location).unwrap();
                prop_assert_eq!(again.as_str(), canonical.as_str());
            }
        }
    }
}
