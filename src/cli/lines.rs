//! Line by line: JSON from stdin, `{"ok":…}` or `{"error":code}` to stdout, one line for each. Also the output
//! of a single answer.
//!
//! Invariants: memory does not grow with the number or the length of lines; a bad line gets its
//! error and the next one is read; what is answered is on its way before the next wait for input. Hidden characters are
//! written out, in JSON as JSON does.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::error::{CliError, InputError};
use kurz_core::visible_text::{visible, visible_lines};

/// What is read and written at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The longest line. A URL has at most 8 KiB, and JSON at most six bytes for one of them.
const MAX_LINE_BYTES: usize = 1 << 20;

/// The answer to one line.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum LineAnswer {
    Ok(String),
    Error(&'static str),
}

/// Answer each line of stdin on stdout.
pub(super) fn answer_stdin(
    answer: impl Fn(Value) -> Result<String, InputError>,
) -> Result<(), CliError> {
    answer_lines(io::stdin().lock(), io::stdout().lock(), answer)
}

/// Write one answer on stdout.
pub(super) fn print_line(answer: &str) -> Result<(), CliError> {
    let answer = visible_lines(answer);
    writeln!(io::stdout(), "{answer}").map_err(|error| CliError::writing(&error))
}

/// Write an answer of several lines on stdout, each with its end.
pub(super) fn print_text(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(visible_lines(text).as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| CliError::writing(&error))
}

/// The object that a line must be.
pub(super) fn object(line: Value) -> Result<Map<String, Value>, InputError> {
    match line {
        Value::Object(fields) => Ok(fields),
        _ => Err(InputError::new("line-not-object", "The line is not a JSON object: write one.")),
    }
}

fn answer_lines(
    input: impl Read,
    output: impl Write,
    answer: impl Fn(Value) -> Result<String, InputError>,
) -> Result<(), CliError> {
    let mut input = BufReader::with_capacity(CHUNK_BYTES, input);
    let mut output = BufWriter::with_capacity(CHUNK_BYTES, output);
    let mut line = InputLine::default();
    loop {
        if input.buffer().is_empty() {
            // The next read may wait for somebody who waits for these answers.
            output.flush().map_err(|error| CliError::writing(&error))?;
        }
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CliError::reading("stdin", &error)),
        };
        let at_end = chunk.is_empty();
        let (used, ended) = match chunk.iter().position(|byte| *byte == b'\n') {
            Some(position) => (position + 1, true),
            None => (chunk.len(), false),
        };
        line.push(chunk.get(..used).unwrap_or_default());
        input.consume(used);
        // A last line may come without its line feed.
        if ended || (at_end && !line.is_empty()) {
            let reply = match line.parse().and_then(&answer) {
                Ok(text) => LineAnswer::Ok(text),
                Err(refusal) => LineAnswer::Error(refusal.code),
            };
            write_answer(&mut output, &reply).map_err(|error| CliError::writing(&error))?;
            line.clear();
        }
        if at_end {
            return output.flush().map_err(|error| CliError::writing(&error));
        }
    }
}

fn write_answer(output: &mut impl Write, answer: &LineAnswer) -> io::Result<()> {
    let line = serde_json::to_string(answer)?;
    writeln!(output, "{}", visible(&line))
}

/// A line as it comes in. Of one that is too long, nothing is kept.
#[derive(Default)]
struct InputLine {
    bytes: Vec<u8>,
    too_long: bool,
}

impl InputLine {
    fn push(&mut self, piece: &[u8]) {
        if self.too_long || self.bytes.len() + piece.len() > MAX_LINE_BYTES {
            self.too_long = true;
            self.bytes.clear();
        } else {
            self.bytes.extend_from_slice(piece);
        }
    }

    fn parse(&self) -> Result<Value, InputError> {
        if self.too_long {
            return Err(InputError::new("line-too-long", "The line is over 1 MiB: shorten it."));
        }
        serde_json::from_slice(&self.bytes).map_err(|_| {
            InputError::new("line-not-json", "The line is not JSON: write it as JSON.")
        })
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.too_long
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Repeats strings, refuses the rest.
    fn echo(line: Value) -> Result<String, InputError> {
        match line {
            Value::String(text) => Ok(text),
            _ => Err(InputError::new("not-text", "")),
        }
    }

    fn answers(input: &[u8]) -> String {
        let mut output = Vec::new();
        answer_lines(input, &mut output, echo).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn each_line_gets_one_line_whatever_it_holds() {
        let input = b"\"a\"\n\n{\"b\":1}\nnull\n \"c\\u00e9\" \r\n\"\xff\"\n\"d\"";
        let expected = [
            r#"{"ok":"a"}"#,
            r#"{"error":"line-not-json"}"#,
            r#"{"error":"not-text"}"#,
            r#"{"error":"not-text"}"#,
            r#"{"ok":"cé"}"#,
            r#"{"error":"line-not-json"}"#,
            r#"{"ok":"d"}"#,
        ];
        assert_eq!(answers(input).lines().collect::<Vec<_>>(), expected);
        assert_eq!(answers(b""), "");
    }

    #[test]
    fn a_line_without_end_takes_no_memory_and_the_next_one_is_read() {
        let mut input = vec![b'x'; 3 * MAX_LINE_BYTES];
        input.extend_from_slice(b"\n\"b\"\n");
        assert_eq!(answers(&input), "{\"error\":\"line-too-long\"}\n{\"ok\":\"b\"}\n");
        assert_eq!(answers(&vec![b'x'; MAX_LINE_BYTES + 1]), "{\"error\":\"line-too-long\"}\n");
        let mut line = InputLine::default();
        line.push(&vec![b'x'; MAX_LINE_BYTES]);
        line.push(b"x");
        assert!(line.bytes.is_empty() && !line.is_empty());
    }

    /// Asks a second question only after the first was answered.
    struct Dialogue {
        asked: usize,
        heard: Rc<RefCell<Vec<u8>>>,
    }

    impl Read for Dialogue {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let answered = self.heard.borrow().split(|byte| *byte == b'\n').count() - 1;
            assert_eq!(answered, self.asked, "the next question comes after the answer");
            self.asked += 1;
            if self.asked > 3 { Ok(0) } else { (&b"\"q\"\n"[..]).read(buffer) }
        }
    }

    struct Heard(Rc<RefCell<Vec<u8>>>);

    impl Write for Heard {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn answers_are_out_before_the_next_wait() {
        let heard = Rc::default();
        let dialogue = Dialogue { asked: 0, heard: Rc::clone(&heard) };
        answer_lines(dialogue, Heard(heard), echo).unwrap();
    }

    #[test]
    fn a_reader_that_leaves_ends_the_run_quietly() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(answer_lines(&b"\"a\"\n"[..], Gone, echo), Err(CliError::ClosedPipe));
    }
}
