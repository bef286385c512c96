//! Texts of statements put together at compile time from constant pieces, so that a list of columns
//! stands once and is still part of a constant: nothing that is known only at run time can get in.

/// A column of an answer: what it is read by, and what is selected for it.
#[derive(Clone, Copy)]
pub(super) struct Selected {
    pub(super) name: &'static str,
    pub(super) expression: &'static str,
}

/// A piece of a text. All but `Text` give a list with commas between.
#[derive(Clone, Copy)]
pub(super) enum Piece {
    Text(&'static str),
    /// `a, b`
    Names(&'static [&'static str]),
    Selected(&'static [Selected]),
    /// `$1, $2`: so many, from this number on.
    Params(usize, usize),
    /// `a = $1, b = $2`, from this number on.
    Assignments(&'static [&'static str], usize),
    /// `a = null, b = null`
    Nulls(&'static [&'static str]),
    /// `a = excluded.a, b = excluded.b`
    Excluded(&'static [&'static str]),
}

/// One text from pieces, each a text or a [`Piece`] such as `Names(COLUMNS)`.
macro_rules! text {
    ($($piece:expr),+ $(,)?) => {{
        const PIECES: &[$crate::store::text::Piece] = &[$($piece),+];
        const BYTES: [u8; $crate::store::text::length(PIECES)] = $crate::store::text::join(PIECES);
        match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("pieces of text make a text"),
        }
    }};
}
pub(super) use text;

/// The length of the text that pieces make.
pub(super) const fn length(pieces: &[Piece]) -> usize {
    write(pieces, &mut [])
}

/// The bytes of the text that pieces make.
pub(super) const fn join<const LENGTH: usize>(pieces: &[Piece]) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    write(pieces, &mut bytes);
    bytes
}

/// Where a column is in a list, for a reader that goes by names. A name that is not there does not
/// compile.
pub(super) const fn position(mut columns: &[Selected], name: &str) -> usize {
    let mut at = 0;
    while let [column, rest @ ..] = columns {
        if is_same(column.name, name) {
            return at;
        }
        at += 1;
        columns = rest;
    }
    panic!("no such column is selected")
}

/// The same in a list of names.
pub(super) const fn position_of(mut names: &[&str], name: &str) -> usize {
    let mut at = 0;
    while let [one, rest @ ..] = names {
        if is_same(one, name) {
            return at;
        }
        at += 1;
        names = rest;
    }
    panic!("no such column is in the list")
}

const fn is_same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    loop {
        match (one, other) {
            ([], []) => return true,
            ([a, rest @ ..], [b, others @ ..]) if *a == *b => (one, other) = (rest, others),
            _ => return false,
        }
    }
}

/// Write as much as there is room for; the length of all of it.
const fn write(mut pieces: &[Piece], out: &mut [u8]) -> usize {
    let mut at = 0;
    while let [piece, rest @ ..] = pieces {
        at = write_piece(*piece, out, at);
        pieces = rest;
    }
    at
}

const fn write_piece(piece: Piece, out: &mut [u8], mut at: usize) -> usize {
    let mut index = 0;
    loop {
        let left = match piece {
            Piece::Text(text) => return put(text, out, at),
            Piece::Selected(columns) => columns.len(),
            Piece::Params(_, count) => count,
            Piece::Names(names)
            | Piece::Assignments(names, _)
            | Piece::Nulls(names)
            | Piece::Excluded(names) => names.len(),
        };
        if index == left {
            return at;
        }
        if index > 0 {
            at = put(", ", out, at);
        }
        at = match piece {
            Piece::Text(_) => at,
            Piece::Selected(columns) => put(expression(columns, index), out, at),
            Piece::Params(first, _) => put_param(first + index, out, at),
            Piece::Names(names) => put(nth(names, index), out, at),
            Piece::Assignments(names, first) => {
                at = put(nth(names, index), out, at);
                at = put(" = ", out, at);
                put_param(first + index, out, at)
            }
            Piece::Nulls(names) => {
                at = put(nth(names, index), out, at);
                put(" = null", out, at)
            }
            Piece::Excluded(names) => {
                at = put(nth(names, index), out, at);
                at = put(" = excluded.", out, at);
                put(nth(names, index), out, at)
            }
        };
        index += 1;
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "at compile time: what is out of bounds does not compile"
)]
const fn nth(names: &[&'static str], index: usize) -> &'static str {
    names[index]
}

#[expect(
    clippy::indexing_slicing,
    reason = "at compile time: what is out of bounds does not compile"
)]
const fn expression(columns: &[Selected], index: usize) -> &'static str {
    columns[index].expression
}

#[expect(clippy::indexing_slicing, reason = "compared with the length right before")]
const fn put_byte(byte: u8, out: &mut [u8], at: usize) -> usize {
    if at < out.len() {
        out[at] = byte;
    }
    at + 1
}

const fn put(text: &str, out: &mut [u8], mut at: usize) -> usize {
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        at = put_byte(*byte, out, at);
        bytes = rest;
    }
    at
}

/// `$1` to `$99`.
#[expect(
    clippy::indexing_slicing,
    reason = "at compile time: what is out of bounds does not compile"
)]
const fn put_param(number: usize, out: &mut [u8], mut at: usize) -> usize {
    const DIGITS: &[u8; 10] = b"0123456789";
    at = put_byte(b'$', out, at);
    if number >= 10 {
        at = put_byte(DIGITS[number / 10], out, at);
    }
    put_byte(DIGITS[number % 10], out, at)
}

#[cfg(test)]
mod tests {
    use super::Piece::{Assignments, Excluded, Names, Nulls, Params, Selected as Columns, Text};
    use super::*;

    const COLUMNS: &[Selected] = &[
        Selected { name: "id", expression: "l.id" },
        Selected { name: "sum", expression: "a + b" },
    ];

    #[test]
    fn pieces_make_one_text() {
        let text = text!(
            Text("select "),
            Columns(COLUMNS),
            Text("; "),
            Names(&["a", "b"]),
            Text("; "),
            Params(9, 3),
            Text("; "),
            Assignments(&["a", "b"], 1),
            Text("; "),
            Nulls(&["a", "b"]),
            Text("; "),
            Excluded(&["a"]),
        );
        assert_eq!(
            text,
            "select l.id, a + b; a, b; $9, $10, $11; a = $1, b = $2; a = null, b = null; a = excluded.a"
        );
        assert_eq!(position(COLUMNS, "sum"), 1);
        assert_eq!(position_of(&["a", "b"], "b"), 1);
    }
}
