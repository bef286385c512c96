//! The order of a list of links, and a position in it. The statements are in `list_statements`.

use kurz_core::link::LinkId;

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    Created,
    Updated,
    Redirects,
    Code,
}

/// A sort: by what, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    pub key: SortKey,
    /// From the largest down.
    pub descending: bool,
}

impl Sort {
    /// Before the first link of any list.
    pub(super) fn start(self) -> Position {
        // `~` comes after every character of a code.
        let (number, text) = if self.descending { (i64::MAX, "~") } else { (i64::MIN, "") };
        match self.key {
            SortKey::Code => Position::Text(text.to_owned(), LinkId(number)),
            _ => Position::Number(number, LinkId(number)),
        }
    }

    /// After the last link of any list.
    pub(super) fn end(self) -> Position {
        Self { descending: !self.descending, ..self }.start()
    }
}

/// A place in a sorted list: the sort's value of a link, and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// In a list sorted by a number or a time.
    Number(i64, LinkId),
    /// In a list sorted by code.
    Text(String, LinkId),
}
