//! Adds texts to the columns of a batch, each text once.

use std::collections::HashMap;

use compact_str::CompactString;
use kurz_core::analytics::{EventBatch, TextColumn};

const COLUMNS: usize = TextColumn::ALL.len();

/// The texts of the batch that is being filled, with their indexes.
#[derive(Debug, Default)]
pub(super) struct ColumnTexts {
    known: Box<[HashMap<CompactString, u32>; COLUMNS]>,
}

/// The index of a text in each column.
pub(super) type EventRow = [u32; COLUMNS];

impl ColumnTexts {
    /// Learn what `batch` has already.
    pub(super) fn begin(&mut self, batch: &EventBatch) {
        for (known, column) in self.known.iter_mut().zip(&batch.texts) {
            known.clear();
            for (index, text) in (0..).zip(&column.dictionary) {
                known.insert((&**text).into(), index);
            }
        }
    }

    /// The index of `text` in a column of `batch`.
    pub(super) fn index(&mut self, batch: &mut EventBatch, column: TextColumn, text: &str) -> u32 {
        let at = place(column);
        let (Some(known), Some(values)) = (self.known.get_mut(at), batch.texts.get_mut(at)) else {
            return 0;
        };
        if let Some(index) = known.get(text) {
            return *index;
        }
        let index = u32::try_from(values.dictionary.len()).unwrap_or(u32::MAX);
        values.dictionary.push(text.into());
        known.insert(text.into(), index);
        index
    }

    /// A row with the same text in every column.
    pub(super) fn row(&mut self, batch: &mut EventBatch, text: &str) -> EventRow {
        TextColumn::ALL.map(|column| self.index(batch, column, text))
    }
}

/// Where a column is in a row.
#[expect(clippy::as_conversions, reason = "the number of a column is its place")]
pub(super) const fn place(column: TextColumn) -> usize {
    column as usize
}

/// Set a column of a row.
pub(super) fn set(row: &mut EventRow, column: TextColumn, index: u32) {
    if let Some(cell) = row.get_mut(place(column)) {
        *cell = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_added_once_also_to_a_batch_that_has_it() {
        let mut batch = EventBatch::default();
        for _ in 0..2 {
            let mut texts = ColumnTexts::default();
            texts.begin(&batch);
            assert_eq!(texts.index(&mut batch, TextColumn::Country, "DE"), 0);
            assert_eq!(texts.index(&mut batch, TextColumn::Country, "AT"), 1);
            assert_eq!(texts.index(&mut batch, TextColumn::Country, "DE"), 0);
            assert_eq!(texts.index(&mut batch, TextColumn::City, "DE"), 0);
        }
        assert_eq!(batch.values(TextColumn::Country).dictionary.len(), 2);
    }

    #[test]
    fn a_column_is_where_its_number_says() {
        for (at, column) in TextColumn::ALL.into_iter().enumerate() {
            assert_eq!(place(column), at);
        }
    }
}
