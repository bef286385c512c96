//! The query of a canonical form (C8): pieces normalised and stably sorted by key.
//!
//! Parameters are not interpreted: `+` is a plus, an encoded `&` stays encoded. Invariant: keys are in
//! ascending order of their bytes, no piece is empty, and no `?` is written without a piece.

use super::escape::{self, QUERY};

/// Writes `?` and the pieces of `query`, which is the text between the first `?` and the `#`.
pub(super) fn push(out: &mut Vec<u8>, query: &[u8]) {
    let start = out.len();
    let mut sorted = true;
    let mut last = start..start;
    for piece in query.split(|&byte| byte == b'&').filter(|piece| !piece.is_empty()) {
        out.push(if out.len() == start { b'?' } else { b'&' });
        let at = out.len();
        escape::push(out, piece, QUERY);
        let end = at + key(out.get(at..).unwrap_or_default()).len();
        sorted = sorted && out.get(last) <= out.get(at..end);
        last = at..end;
    }
    if !sorted {
        sort(out, start);
    }
}

/// Sorts the pieces of the query that starts with the `?` at `start`.
fn sort(out: &mut Vec<u8>, start: usize) {
    let query = out.split_off(start);
    // Escapes of `&` and `=` are never decoded, so this finds the same pieces and keys again.
    let pieces = query.get(1..).unwrap_or_default().split(|&byte| byte == b'&');
    let mut pieces: Vec<(&[u8], &[u8])> = pieces.map(|piece| (key(piece), piece)).collect();
    // Stable: pieces with the same key keep their order, which may matter to a server.
    pieces.sort_by_key(|&(key, _)| key);
    for (_, piece) in pieces {
        out.push(if out.len() == start { b'?' } else { b'&' });
        out.extend_from_slice(piece);
    }
}

/// The part before the first `=`, or all of it.
fn key(piece: &[u8]) -> &[u8] {
    let end = piece.iter().position(|&byte| byte == b'=').unwrap_or(piece.len());
    piece.get(..end).unwrap_or(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(query: &str) -> String {
        let mut out = b"h/".to_vec();
        push(&mut out, query.as_bytes());
        String::from_utf8(out.split_off(2)).unwrap()
    }

    #[test]
    fn queries_are_normalised() {
        for (input, expected) in [
            ("", ""),
            ("&&", ""),
            ("a", "?a"),
            ("b&a", "?a&b"),
            ("b=1&a=2&b=0", "?a=2&b=1&b=0"),
            ("a&a=&a=1&a", "?a&a=&a=1&a"),
            ("ab=1&a=2", "?a=2&ab=1"),
            ("a-=1&a=2", "?a=2&a-=1"),
            ("&&b&&a&", "?a&b"),
            ("=v&=u", "?=v&=u"),
            ("a=1=2", "?a=1=2"),
            ("%62=1&a=2", "?a=2&b=1"),
            ("a%3d=1&a=2", "?a=2&a%3D=1"),
            ("x=%26&a", "?a&x=%26"),
            ("q=a+b&p=%2b", "?p=%2B&q=a+b"),
        ] {
            assert_eq!(normalised(input), expected, "{input:?}");
            assert_eq!(normalised(expected.trim_start_matches('?')), expected, "again");
        }
    }
}
