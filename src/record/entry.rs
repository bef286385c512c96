//! What memory knows of one link: how it answers and its counters, in one piece. With many links each
//! piece is far from the processor, and costs more than all the rest of a redirect.

use std::ops::Deref;

use http::StatusCode;
use triomphe::ThinArc;

use crate::link::{Fate, LinkId};
use crate::record::Cell;
use crate::record::cells::Counted;

/// A link, ready to be answered with. A clone is the same link.
#[derive(Clone, Debug)]
pub struct Entry(ThinArc<Head, u8>);

/// How a link answers.
#[derive(Clone, Copy, Debug)]
pub struct Face<'a> {
    /// The address that it was read for.
    pub key: &'a str,
    /// The prepared `Location`, fit for a header.
    pub location: &'a str,
    /// Whether it answers, and until when.
    pub fate: Fate,
    /// Hits a month; 0: any number.
    pub hit_limit: u64,
    /// The status of its redirect.
    pub status: StatusCode,
}

/// All but the texts.
#[derive(Debug)]
pub struct Head {
    /// Whether it answers, and until when.
    pub fate: Fate,
    /// Hits a month; 0: any number.
    pub hit_limit: u64,
    counters: Counters,
    /// The status of its redirect.
    pub status: StatusCode,
    /// Where the key ends and the `Location` begins.
    key_end: u16,
}

/// A link has one cell, whatever became of its face since.
#[derive(Debug)]
enum Counters {
    Here(Cell),
    /// With the face that it had before, or has at another address.
    With(Entry),
}

impl Entry {
    /// The first of its link.
    pub(super) fn new(face: &Face<'_>, cell: Cell) -> Self {
        Self::with(face, Counters::Here(cell))
    }

    /// The same link with this face.
    pub(super) fn wearing(&self, face: &Face<'_>) -> Self {
        let first = match &self.counters {
            Counters::Here(_) => self,
            Counters::With(first) => first,
        };
        if first.wears(face) {
            return first.clone();
        }
        Self::with(face, Counters::With(first.clone()))
    }

    fn with(face: &Face<'_>, counters: Counters) -> Self {
        let Face { key, location, fate, hit_limit, status } = *face;
        let key_end = u16::try_from(key.len()).expect("an address is short");
        let head = Head { fate, hit_limit, counters, status, key_end };
        let texts = [key, location].concat();
        Self(ThinArc::from_header_and_slice(head, texts.as_bytes()))
    }

    fn wears(&self, face: &Face<'_>) -> bool {
        let Face { key, location, fate, hit_limit, status } = *face;
        (self.fate, self.hit_limit, self.status) == (fate, hit_limit, status)
            && (self.key(), self.location()) == (key.as_bytes(), location.as_bytes())
    }

    /// Its counters.
    pub fn cell(&self) -> &Cell {
        match &self.counters {
            Counters::Here(cell) => cell,
            Counters::With(first) => first.cell(),
        }
    }

    /// Whose counters these are.
    pub fn link(&self) -> LinkId {
        self.cell().link()
    }

    /// The address that it was read for.
    pub fn key(&self) -> &[u8] {
        self.texts().0
    }

    /// The prepared `Location`: fit for a header.
    pub fn location(&self) -> &[u8] {
        self.texts().1
    }

    fn texts(&self) -> (&[u8], &[u8]) {
        self.0.slice.split_at_checked(self.key_end.into()).unwrap_or_default()
    }
}

impl Deref for Entry {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.0.header.header
    }
}

impl Counted for Entry {
    fn cell(&self) -> &Cell {
        self.cell()
    }

    fn holders(&self) -> usize {
        ThinArc::strong_count(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::link::Month;
    use crate::link::decision::Life;

    const MONTH: Month = Month::from_number(24_000);

    fn face(location: &str) -> Face<'_> {
        let fate = Fate::of(Life::default());
        Face { key: "abc", location, fate, hit_limit: 9, status: StatusCode::FOUND }
    }

    #[test]
    fn a_link_that_changes_its_face_keeps_its_counters() {
        let first = Entry::new(&face("https://a.example/"), Cell::new(LinkId(7), MONTH, 3, None));
        assert_eq!((first.key(), first.location()), (&b"abc"[..], &b"https://a.example/"[..]));
        let same = first.wearing(&face("https://a.example/"));
        assert_eq!(same.holders(), 2, "it is the same");
        drop(same);

        let second = first.wearing(&face("https://b.example/"));
        assert_eq!(second.location(), b"https://b.example/");
        assert!(second.cell().quota().take(MONTH, 9).is_some());
        let third = second.wearing(&Face { hit_limit: 5, ..face("https://b.example/") });
        assert_eq!((third.hit_limit, third.link()), (5, LinkId(7)));
        drop(second);
        assert_eq!(first.holders(), 2, "by itself, and by the third");
        assert_eq!(third.wearing(&face("https://a.example/")).holders(), 3, "the first again");
        for entry in [&first, &third] {
            assert_eq!(entry.cell().quota().used(), (MONTH, 4));
        }
    }

    #[test]
    fn every_part_of_a_face_counts() {
        let first = Entry::new(&face("https://a.example/"), Cell::new(LinkId(7), MONTH, 0, None));
        let plain = face("https://a.example/");
        let ends = Life { expires_at: Some(Timestamp::from_ms(5)), ..Life::default() };
        for other in [
            Face { key: "team/abc", ..plain },
            Face { location: "https://a.example/?", ..plain },
            Face { fate: Fate::of(ends), ..plain },
            Face { hit_limit: 0, ..plain },
            Face { status: StatusCode::MOVED_PERMANENTLY, ..plain },
            // The texts together are the same.
            Face { key: "abch", location: "ttps://a.example/", ..plain },
        ] {
            let entry = first.wearing(&other);
            assert_eq!(entry.holders(), 1, "{other:?}");
            assert!(entry.wears(&other) && !first.wears(&other), "{other:?}");
        }
    }
}
