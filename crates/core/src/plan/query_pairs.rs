//! The parameters of a query, compared after percent-decoding and without allocating. `+` is a space, as forms
//! write it.

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueryPair<'a> {
    /// The whole of it.
    pub text: &'a [u8],
    pub name: &'a [u8],
    /// Empty when there is none.
    pub value: &'a [u8],
}

pub(super) fn pairs(query: &[u8]) -> impl Iterator<Item = QueryPair<'_>> {
    query.split(|byte| *byte == b'&').map(|text| {
        let end = text.iter().position(|byte| *byte == b'=');
        let name = end.and_then(|end| text.get(..end)).unwrap_or(text);
        let value = end.and_then(|end| text.get(end + 1..)).unwrap_or_default();
        QueryPair { text, name, value }
    })
}

/// The bytes that escaped text stands for.
fn decoded(text: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (first, after) = rest.split_first()?;
        rest = after;
        if *first == b'%'
            && let Some(([high, low], after)) = after.split_first_chunk()
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            rest = after;
            return Some(high << 4 | low);
        }
        Some(if *first == b'+' { b' ' } else { *first })
    })
}

const fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn is_escaped(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'%' | b'+'))
}

/// Whether escaped text stands for `plain`.
#[inline]
pub(super) fn name_is(text: &[u8], plain: &[u8]) -> bool {
    text == plain && !is_escaped(text)
        || is_escaped(text) && decoded(text).eq(plain.iter().copied())
}

/// Whether escaped text stands for something that begins with `plain`.
#[inline]
pub(super) fn starts_with(text: &[u8], plain: &[u8]) -> bool {
    let mut text = decoded(text);
    plain.iter().all(|byte| text.next() == Some(*byte))
}

/// Whether two escaped texts stand for the same.
#[inline]
pub(super) fn names_are_same(one: &[u8], other: &[u8]) -> bool {
    one == other || decoded(one).eq(decoded(other))
}

/// The escaped value of the first parameter of this name.
#[inline]
pub(super) fn first_value<'a>(query: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    pairs(query).find(|pair| name_is(pair.name, name)).map(|pair| pair.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_compared_after_decoding() {
        assert!(name_is(b"a", b"a") && name_is(b"%61", b"a") && name_is(b"a+b", b"a b"));
        assert!(!name_is(b"%6", b"a") && name_is(b"%6", b"%6") && name_is(b"100%", b"100%"));
        assert!(!name_is(b"a+b", b"a+b") && name_is(b"a%2Bb", b"a+b"));
        assert!(starts_with(b"%70re-x", b"pre") && !starts_with(b"pr", b"pre"));
        assert!(names_are_same(b"%61", b"a") && !names_are_same(b"a", b"b"));
        let query = b"x&a=1&%61=2&=3";
        assert_eq!(first_value(query, b"a"), Some(&b"1"[..]));
        assert_eq!(first_value(query, b"x"), Some(&b""[..]));
        assert_eq!(first_value(query, b"y"), None);
        assert_eq!(first_value(b"", b"y"), None);
    }
}
