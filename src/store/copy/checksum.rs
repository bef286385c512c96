//! The checksum of a table: what it holds, in short. Equal on both databases when every row is.
//!
//! Invariant: each value goes in with its kind and its length, so no two different tables look
//! alike.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::store::value::{SqlRow, SqlValue};

/// The content of a table, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    pub table: &'static str,
    pub rows: u64,
    /// SHA-256 over all of them in the order of their key, in hexadecimal.
    pub sha256: String,
}

#[derive(Default)]
pub(super) struct ChecksumBuilder {
    rows: u64,
    hash: Sha256,
    /// One row, put together before it is hashed: the hash likes long pieces.
    row: Vec<u8>,
}

impl ChecksumBuilder {
    pub(super) fn add(&mut self, row: &SqlRow) {
        self.row.clear();
        for value in &row.0 {
            let (kind, bytes): (u8, &[u8]) = match value {
                SqlValue::Null => (0, &[]),
                SqlValue::Int(int) => (1, &int.to_be_bytes()),
                SqlValue::Real(real) => (2, &real.to_bits().to_be_bytes()),
                SqlValue::Text(text) => (3, text.as_bytes()),
                SqlValue::Blob(blob) => (4, blob),
            };
            self.row.push(kind);
            self.row.extend(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            self.row.extend(bytes);
        }
        self.hash.update(&self.row);
        self.rows += 1;
    }

    pub(super) fn finish(self, table: &'static str) -> Checksum {
        let sha256 = self.hash.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Checksum { table, rows: self.rows, sha256 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(rows: &[&[SqlValue<'static>]]) -> Checksum {
        let mut sum = ChecksumBuilder::default();
        for row in rows {
            sum.add(&SqlRow(row.to_vec()));
        }
        sum.finish("links")
    }

    #[test]
    fn tables_that_differ_in_anything_have_different_checksums() {
        let text = SqlValue::text;
        let tables: &[&[&[SqlValue<'static>]]] = &[
            &[],
            &[&[]],
            &[&[SqlValue::Null]],
            &[&[SqlValue::Int(0)]],
            &[&[SqlValue::Int(1)]],
            &[&[SqlValue::Real(0.0)]],
            &[&[SqlValue::Real(-0.0)]],
            &[&[text("")]],
            &[&[text("ab"), text("c")]],
            &[&[text("a"), text("bc")]],
            &[&[SqlValue::Blob(b"a".into())], &[text("a")]],
            &[&[text("a")], &[SqlValue::Blob(b"a".into())]],
        ];
        for (at, one) in tables.iter().enumerate() {
            assert_eq!(sum(one), sum(one));
            for other in &tables[at + 1..] {
                assert_ne!(sum(one), sum(other), "{one:?} {other:?}");
            }
        }
        assert_eq!(sum(&[&[SqlValue::Null]]).sha256.len(), 64);
    }
}
