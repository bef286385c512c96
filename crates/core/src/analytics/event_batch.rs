//! Classified clicks, column by column: what the writer makes of its queues, what a row of the event log and a
//! block of events hold, and what a query reads.

use std::collections::HashMap;

use crate::analytics::TextColumn;
use crate::clicks::ClickAnswer;
use crate::link::LinkId;
use crate::time::Timestamp;

/// The text of a value that is not known.
pub const UNKNOWN: &str = "";
/// The text of every value of a visitor who asked not to be tracked.
pub const PRIVATE: &str = "\u{1}";

/// The answer of a click that was redirected.
pub const REDIRECTED: &str = ClickAnswer::Redirect.name();

/// Events, one per index in every column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventBatch {
    pub links: Vec<LinkId>,
    pub times: Vec<Timestamp>,
    /// 40 bits of a keyed hash; 0 when the visitor is not known.
    pub visitors: Vec<u64>,
    /// Latency in nanoseconds.
    pub nanos: Vec<u32>,
    /// How many clicks the event stands for: 1, or more for clicks whose details were dropped.
    pub counts: Vec<u32>,
    /// By [`TextColumn`] number.
    pub texts: [TextValues; TextColumn::ALL.len()],
}

/// A column of texts: the distinct ones, and which one each event has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextValues {
    pub dictionary: Vec<Box<str>>,
    pub indexes: Vec<u32>,
}

impl EventBatch {
    pub fn len(&self) -> usize {
        self.links.len()
    }

    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    pub fn text(&self, column: TextColumn, event: usize) -> &str {
        self.values(column).get(event)
    }

    #[expect(clippy::indexing_slicing, clippy::as_conversions, reason = "there is one per column")]
    pub fn values(&self, column: TextColumn) -> &TextValues {
        &self.texts[column as usize]
    }
}

impl TextValues {
    pub fn get(&self, event: usize) -> &str {
        let index = self.indexes.get(event).copied().unwrap_or(u32::MAX);
        let text = usize::try_from(index).ok().and_then(|index| self.dictionary.get(index));
        text.map_or(UNKNOWN, |text| &**text)
    }

    /// A column with these values.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known: HashMap<&'a str, u32> = HashMap::new();
        let mut column = Self::default();
        for value in values {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let index = *known.entry(value).or_insert_with(|| {
                column.dictionary.push(value.into());
                next
            });
            column.indexes.push(index);
        }
        column
    }
}
