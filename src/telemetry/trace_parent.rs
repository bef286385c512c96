//! The W3C `traceparent` header: the trace that a trusted proxy has begun, so that a request's span
//! stands in it.

use http::HeaderMap;

/// The trace and the span of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceParent {
    pub(super) trace_id: [u8; 16],
    pub(super) span_id: [u8; 8],
}

impl TraceParent {
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::parse(headers.get("traceparent")?.to_str().ok()?)
    }

    /// `00-{trace id}-{span id}-{flags}`; later versions may append fields.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('-');
        let [version] = unhex(fields.next()?)?;
        let parent = Self { trace_id: unhex(fields.next()?)?, span_id: unhex(fields.next()?)? };
        let [_flags] = unhex(fields.next()?)?;
        let is_complete = version == 0 && fields.next().is_none();
        let is_later = (1..255).contains(&version);
        let is_zero = parent.trace_id == [0; 16] || parent.span_id == [0; 8];
        ((is_complete || is_later) && !is_zero).then_some(parent)
    }
}

/// Exactly `N` bytes from lower-case hexadecimal digits.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.as_bytes().iter().all(digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_read() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent = TraceParent::parse(text).unwrap();
        assert_eq!(parent.trace_id[..2], [0x4b, 0xf9]);
        assert_eq!(parent.span_id, [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        let later = text.replacen("00", "cc", 1) + "-more";
        assert_eq!(TraceParent::parse(&later), Some(parent));
    }

    #[test]
    fn what_the_specification_forbids_is_not() {
        for text in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }
}
