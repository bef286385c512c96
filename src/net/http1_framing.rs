//! Follows HTTP/1 framing: where each head and body of a connection begins and ends. hyper parses the
//! heads; this only follows their lines.
//!
//! Invariant: ambiguous framing, the root of request smuggling, is refused. A head with a bare LF, or
//! with more than one statement of its body's length, is made invalid before hyper sees it, and hyper
//! answers 400 and closes. hyper alone accepts a bare LF, merges equal Content-Lengths and ignores a
//! Content-Length beside chunked encoding.

use super::connection_state::ReadStage;

/// Bytes kept of a line that is not complete yet. A length field that does not fit is refused: no
/// valid one is that long.
const KEPT: usize = 64;

/// A byte that is invalid anywhere in a head: hyper refuses a head that contains it.
const SPOILT: u8 = 0;

#[derive(Clone, Copy, Debug)]
enum At {
    Line,
    Body(u64),
    Opaque,
    Refused,
}

/// How much of the bytes was followed, and why no further.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    /// How many of them hyper may see.
    pub(super) seen: usize,
    /// Whether a message ends there.
    pub(super) ended: bool,
}

#[derive(Debug)]
pub(super) struct Http1Framing {
    at: At,
    /// Before the request line: the next line is one, unless it is empty.
    request_line: bool,
    /// Nothing was read before this head: it may be the preface of HTTP/2.
    opening: bool,
    length: Option<u64>,
    chunked: bool,
    /// The incomplete line: its beginning, its last byte, its length.
    kept: [u8; KEPT],
    last: u8,
    line_len: usize,
}

impl Http1Framing {
    pub(super) fn new() -> Self {
        Self {
            at: At::Line,
            request_line: true,
            opening: true,
            length: None,
            chunked: false,
            kept: [0; KEPT],
            last: 0,
            line_len: 0,
        }
    }

    /// For a connection that has carried HTTP/1 already: it does not change to HTTP/2 any more.
    pub(super) fn of_http1() -> Self {
        Self { opening: false, ..Self::new() }
    }

    pub(super) fn stage(&self) -> ReadStage {
        match self.at {
            At::Line if self.request_line && self.line_len == 0 => ReadStage::Between,
            At::Line => ReadStage::Head,
            At::Body(_) => ReadStage::Body,
            At::Opaque => ReadStage::Opaque,
            At::Refused => ReadStage::Refused,
        }
    }

    /// Whether the client may be in the middle of sending a request.
    pub(super) fn mid_message(&self) -> bool {
        self.chunked || !matches!(self.stage(), ReadStage::Between | ReadStage::Opaque)
    }

    /// Follow the next `bytes` of the stream, at most to the end of a message. Of a head that is
    /// malformed a byte is made invalid, and hyper must not see those after it.
    pub(super) fn follow(&mut self, bytes: &mut [u8]) -> Followed {
        let (mut seen, mut ended) = (0, false);
        while let Some(rest) = bytes.get_mut(seen..).filter(|rest| !rest.is_empty() && !ended) {
            match self.at {
                At::Line => {
                    let taken = find_newline(rest).map_or(rest.len(), |at| at + 1);
                    let (line, _) = rest.split_at_mut_checked(taken).unwrap_or_default();
                    seen += taken;
                    let in_head = !self.request_line;
                    if !self.line(line) {
                        if let Some(end) = line.last_mut() {
                            *end = SPOILT;
                        }
                        self.at = At::Refused;
                    }
                    ended = in_head && self.request_line && matches!(self.at, At::Line);
                }
                At::Body(left) => {
                    let here = u64::try_from(rest.len()).unwrap_or(u64::MAX).min(left);
                    seen += usize::try_from(here).unwrap_or(rest.len());
                    ended = here == left;
                    self.at = if ended { At::Line } else { At::Body(left - here) };
                }
                At::Opaque => return Followed { seen: bytes.len(), ended: false },
                At::Refused => break,
            }
        }
        Followed { seen, ended }
    }

    /// Take a part of a line, or the rest of it with its LF. False when the head is malformed.
    fn line(&mut self, piece: &[u8]) -> bool {
        // The common case: a complete line, read in place.
        if self.line_len == 0
            && let [line @ .., b'\r', b'\n'] = piece
        {
            return self.end_line(line, line.len() <= KEPT);
        }
        let before = self.last;
        self.keep(piece);
        let Some((b'\n', piece)) = piece.split_last() else { return true };
        if *piece.last().unwrap_or(&before) != b'\r' {
            return false;
        }
        let length = self.line_len.saturating_sub(2);
        let kept = self.kept;
        let line = kept.get(..length.min(KEPT)).unwrap_or_default();
        self.line_len = 0;
        self.end_line(line, length <= KEPT)
    }

    fn keep(&mut self, piece: &[u8]) {
        if let Some(room) = self.kept.get_mut(self.line_len..) {
            for (to, from) in room.iter_mut().zip(piece) {
                *to = *from;
            }
        }
        self.line_len = self.line_len.saturating_add(piece.len());
        self.last = piece.last().copied().unwrap_or(self.last);
    }

    /// A line without its CRLF; `whole` is false when it is longer than what is kept of one.
    fn end_line(&mut self, line: &[u8], whole: bool) -> bool {
        if self.request_line {
            // RFC 9112, 2.2: empty lines before a request line are passed over.
            self.request_line = line.is_empty();
            if self.opening && whole && line == b"PRI * HTTP/2.0" {
                self.at = At::Opaque;
            }
            return true;
        }
        match line.first() {
            None => self.end_head(),
            Some(b'c' | b'C') => match field(line, b"content-length") {
                Some(value) => whole && self.content_length(value),
                None => true,
            },
            Some(b't' | b'T') => match field(line, b"transfer-encoding") {
                Some(value) => whole && self.transfer_encoding(value),
                None => true,
            },
            Some(_) => true,
        }
    }

    fn content_length(&mut self, value: &[u8]) -> bool {
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let value = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
        let alone = !self.chunked && self.length.is_none();
        self.length = value;
        digits && alone && value.is_some()
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> bool {
        let alone = !self.chunked && self.length.is_none();
        self.chunked = true;
        alone && value.eq_ignore_ascii_case(b"chunked")
    }

    fn end_head(&mut self) -> bool {
        self.at = match self.length.take() {
            // The connection is closed after a chunked request, so no request follows it.
            _ if self.chunked => At::Opaque,
            None | Some(0) => At::Line,
            Some(length) => At::Body(length),
        };
        self.request_line = true;
        self.opening = false;
        true
    }
}

/// Whether every line of a head ends with CRLF: the one rule of framing that a head without fields
/// about a body can break. Without branches, so that the compiler vectorises it.
pub(super) fn lines_end_with_crlf(head: &[u8]) -> bool {
    let pairs = head.iter().zip(head.get(1..).unwrap_or_default());
    let bare = pairs.fold(0, |bare, (before, byte)| {
        bare | (u8::from(*byte == b'\n') & u8::from(*before != b'\r'))
    });
    bare == 0 && head.first() != Some(&b'\n')
}

/// The position of the first LF. Every byte of every head passes here, so blocks are compared in a
/// form that the compiler vectorises, and the position in a block is computed without branches.
fn find_newline(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<32>();
    for (at, block) in blocks.iter().enumerate() {
        if block.iter().fold(0, |found, byte| found | u8::from(*byte == b'\n')) != 0 {
            return find_in_words(block).map(|byte| at * 32 + byte);
        }
    }
    find_in_words(rest).map(|byte| blocks.len() * 32 + byte)
}

/// The same eight bytes at a time: a byte is LF where `differs` is zero, and subtracting one there
/// borrows into the highest bit.
fn find_in_words(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const NEWLINES: u64 = u64::from_le_bytes([b'\n'; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let differs = u64::from_le_bytes(*word) ^ NEWLINES;
        let found = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if found != 0 {
            let byte = usize::try_from(found.trailing_zeros() / 8).unwrap_or_default();
            return Some(at * 8 + byte);
        }
    }
    rest.iter().position(|byte| *byte == b'\n').map(|at| words.len() * 8 + at)
}

/// The value of `line` when its field is `name`.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    rest.strip_prefix(b":").map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feed `stream` in pieces of the given size; the stage at the end and what hyper got to see.
    fn follow(stream: &[u8], piece: usize) -> (ReadStage, Vec<u8>) {
        let mut framing = Http1Framing::new();
        let mut seen = Vec::new();
        for part in stream.chunks(piece) {
            let mut part = part.to_vec();
            let mut rest = &mut part[..];
            loop {
                let followed = framing.follow(rest);
                seen.extend_from_slice(&rest[..followed.seen]);
                rest = &mut rest[followed.seen..];
                if !followed.ended || rest.is_empty() {
                    break;
                }
            }
        }
        (framing.stage(), seen)
    }

    #[test]
    fn streams_end_in_the_stage_that_their_bytes_say_however_they_are_cut() {
        let long = format!("GET / HTTP/1.1\r\nCookie: {}\r\n\r\n", "x".repeat(9000));
        let padded = format!("POST / HTTP/1.1\r\nContent-Length: {}5\r\n\r\n", " ".repeat(80));
        for (stream, stage) in [
            ("", ReadStage::Between),
            ("\r\n\r\n", ReadStage::Between),
            ("G", ReadStage::Head),
            ("GET / HTTP/1.1\r\nHost: a\r\n", ReadStage::Head),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ReadStage::Between),
            ("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", ReadStage::Between),
            ("GET / HTTP/1.1\r\n\r\nGET /", ReadStage::Head),
            ("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab\nc", ReadStage::Body),
            ("POST / HTTP/1.1\r\ncontent-length:5 \r\n\r\nab\nce", ReadStage::Between),
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET", ReadStage::Head),
            ("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", ReadStage::Between),
            ("POST / HTTP/1.1\r\nContent-Lengthy: x\r\n\r\n", ReadStage::Between),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n", ReadStage::Opaque),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ReadStage::Opaque),
            (&long, ReadStage::Between),
            (&padded, ReadStage::Refused),
            ("GET / HTTP/1.1\n", ReadStage::Refused),
            ("GET / HTTP/1.1\r\nHost: a\n", ReadStage::Refused),
            ("GET / HTTP/1.1\r\nHost: a\r\n\n", ReadStage::Refused),
            ("\n", ReadStage::Refused),
            ("POST / HTTP/1.1\r\nContent-Length: +5\r\n", ReadStage::Refused),
            ("POST / HTTP/1.1\r\nContent-Length:\r\n", ReadStage::Refused),
            ("POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n", ReadStage::Refused),
            ("POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n", ReadStage::Refused),
            ("POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n", ReadStage::Refused),
            (
                "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                ReadStage::Refused,
            ),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                ReadStage::Refused,
            ),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked, x\r\n", ReadStage::Refused),
            ("GET / HTTP/1.1\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ReadStage::Between),
        ] {
            for piece in [1, 2, 3, 7, 24, 16384] {
                assert_eq!(follow(stream.as_bytes(), piece).0, stage, "{stream:?} by {piece}");
            }
        }
    }

    #[test]
    fn a_refused_head_is_spoilt_and_what_follows_it_is_never_shown() {
        let stream =
            b"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\nHost: x\r\n\r\nGET /c HTTP/1.1\r\n\r\n";
        for piece in [1, 5, 24, 16384] {
            let (_, seen) = follow(stream, piece);
            assert_eq!(seen, b"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\0", "by {piece}");
        }
    }

    proptest! {
        #[test]
        fn the_first_newline_is_found_wherever_it_is(
            bytes in prop::collection::vec(prop::sample::select(&b"\n\x0b\x09\0\x8a\xffab"[..]), 0..100),
        ) {
            prop_assert_eq!(find_newline(&bytes), bytes.iter().position(|byte| *byte == b'\n'));
        }

        #[test]
        fn cutting_a_stream_differently_never_changes_how_it_is_read(
            lines in prop::collection::vec(prop::sample::select(vec![
                "GET / HTTP/1.1\r\n", "Host: a\r\n", "\r\n", "Content-Length: 3\r\n", "abc", "\n",
                "Transfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n", "x: y\r\r\n",
                "PRI * HTTP/2.0\r\n", "content-length: 0\r\n", "\r",
            ]), 0..12),
            piece in 1_usize..40,
        ) {
            let stream = lines.concat();
            prop_assert_eq!(follow(stream.as_bytes(), piece), follow(stream.as_bytes(), 1 << 20));
        }

        #[test]
        fn no_bytes_whatever_make_it_panic_or_show_more_than_came(
            bytes in prop::collection::vec(any::<u8>(), 0..400), piece in 1_usize..40,
        ) {
            prop_assert!(follow(&bytes, piece).1.len() <= bytes.len());
        }
    }
}
