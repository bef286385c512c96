//! The writer of the log: lines hold words of requests, and those are not to direct a terminal or reorder the text
//! beside them.

use std::io::{self, Write};

use kurz_core::visible_text::visible_lines;
use tracing_subscriber::fmt::MakeWriter;

/// The sequences, without their first character, that the log colours lines with. None of them moves the cursor or
/// hides anything.
const COLOURS: [&str; 9] = ["[0m", "[1m", "[2m", "[3m", "[31m", "[32m", "[33m", "[34m", "[35m"];

/// Writes lines with hidden characters written out.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisibleLog<M> {
    make: M,
    /// Whether lines are coloured; the sequences that the log does that with stay then.
    colours: bool,
}

impl<M> VisibleLog<M> {
    pub(super) const fn new(make: M, colours: bool) -> Self {
        Self { make, colours }
    }
}

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for VisibleLog<M> {
    type Writer = VisibleWriter<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        VisibleWriter { out: self.make.make_writer(), colours: self.colours }
    }
}

pub(super) struct VisibleWriter<W> {
    out: W,
    colours: bool,
}

impl<W: Write> Write for VisibleWriter<W> {
    /// Takes all of `bytes`: the log writes a line at once.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.colours => {
                let mut pieces = text.split('\u{1b}');
                let first = pieces.next().unwrap_or_default();
                self.out.write_all(visible_lines(first).as_bytes())?;
                for piece in pieces {
                    let is_ours = COLOURS.iter().any(|colour| piece.starts_with(colour));
                    self.out.write_all(if is_ours { &b"\x1b"[..] } else { b"\\u001b" })?;
                    self.out.write_all(visible_lines(piece).as_bytes())?;
                }
            }
            Ok(text) => self.out.write_all(visible_lines(text).as_bytes())?,
            Err(_) => self.out.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
