//! The path of a canonical form (C7): escapes, dot segments, runs of slashes, the trailing slash.
//!
//! Works on the tail of the output buffer and allocates nothing but in the rare case of a run of
//! slashes. Invariant: a written path starts with `/`, has no dot segment, no `//`, and ends in `/`
//! only when it is `/`.

use super::escape::{self, PATH};

/// Writes `path`, which is empty or starts with a slash.
pub(super) fn push(out: &mut Vec<u8>, path: &[u8]) {
    let start = out.len();
    if is_plain(path) {
        out.extend_from_slice(path);
    } else {
        push_segments(out, path);
        collapse_slashes(out, start);
    }
    if out.len() > start + 1 && out.last() == Some(&b'/') {
        out.pop();
    }
    if out.len() == start {
        out.push(b'/');
    }
}

/// Whether nothing has to be done but for the ends: no escapes, no dot after a slash, no `//`.
fn is_plain(path: &[u8]) -> bool {
    let mut after_slash = false;
    path.iter().all(|&byte| {
        let plain = escape::is(byte, PATH) && !(after_slash && matches!(byte, b'/' | b'.'));
        after_slash = byte == b'/';
        plain
    })
}

/// Writes the segments with their escapes normalised, and without dot segments.
///
/// RFC 3986 5.2.4, with the output as the stack: an entry is a slash and its segment, `..` drops
/// the last one. Empty segments are entries too, which is why slashes collapse only afterwards.
/// Dots are looked at once their escapes are decoded: `%2e%2E` is `..`.
fn push_segments(out: &mut Vec<u8>, path: &[u8]) {
    let start = out.len();
    let mut segments =
        path.strip_prefix(b"/").unwrap_or(path).split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let entry = out.len();
        out.push(b'/');
        escape::push(out, segment, PATH);
        match out.get(entry..) {
            Some(b"/.") => out.truncate(entry),
            Some(b"/..") => {
                out.truncate(entry);
                drop_entry(out, start);
            }
            _ => continue,
        }
        // A dot segment at the end leaves its slash: `/a/.` is `/a/`.
        if segments.peek().is_none() {
            out.push(b'/');
        }
    }
}

/// Drops the last entry at or after `start`. Each byte is dropped once at most: still linear.
fn drop_entry(out: &mut Vec<u8>, start: usize) {
    let slash = out.iter().skip(start).rposition(|&byte| byte == b'/').unwrap_or(0);
    out.truncate(start + slash);
}

fn collapse_slashes(out: &mut Vec<u8>, start: usize) {
    if !out.get(start..).unwrap_or_default().windows(2).any(|pair| pair == b"//") {
        return;
    }
    let path = out.split_off(start);
    for byte in path {
        // What is before the path is a host or a port, so its last byte is no slash.
        if byte != b'/' || out.last() != Some(&b'/') {
            out.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(path: &str) -> String {
        let mut out = b"h".to_vec();
        push(&mut out, path.as_bytes());
        String::from_utf8(out.split_off(1)).unwrap()
    }

    #[test]
    fn paths_are_normalised() {
        for (input, expected) in [
            ("", "/"),
            ("/", "/"),
            ("//", "/"),
            ("/a", "/a"),
            ("/a/", "/a"),
            ("/a//", "/a"),
            ("/a.b/c..", "/a.b/c.."),
            ("/.", "/"),
            ("/..", "/"),
            ("/../../a", "/a"),
            ("/./a/./b/.", "/a/b"),
            ("/a/..", "/"),
            ("/a/b/..", "/a"),
            ("/a/b/../c", "/a/c"),
            ("/%2e/%2E%2e/x", "/x"),
            ("/.%2e/x", "/x"),
            ("/...", "/..."),
            ("/.a/..b", "/.a/..b"),
            ("/%2f%2F", "/%2F%2F"),
            ("/%2F..", "/%2F.."),
            ("/..%2F", "/..%2F"),
        ] {
            assert_eq!(normalised(input), expected, "{input:?}");
            assert_eq!(normalised(expected), expected, "{expected:?} again");
        }
    }

    #[test]
    fn dot_segments_are_removed_before_slashes_collapse() {
        // The segment that `..` drops is the empty one between the two slashes.
        assert_eq!(normalised("/a//../b"), "/a/b");
        assert_eq!(normalised("/a//..//b"), "/a/b");
        assert_eq!(normalised("/a///../../b"), "/a/b");
        assert_eq!(normalised("//.."), "/");
    }
}
