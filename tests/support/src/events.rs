//! The events that a store holds, in its log and in blocks.

use std::collections::BTreeMap;
use std::path::Path;

use kurz::config::{Config, Overrides};
use kurz::store::{EventColumn, Store};
use kurz_core::analytics::block::{decode_columns, decode_row};
use kurz_core::analytics::{EventBatch, TextColumn};
use kurz_core::code::WorkspaceId;

use crate::home::Home;

pub struct StoredEvents {
    pub logged: Vec<EventBatch>,
    /// With workspace and day.
    pub blocks: Vec<(WorkspaceId, i64, EventBatch)>,
}

impl StoredEvents {
    /// Read all events while nothing is moved from the log to blocks.
    pub async fn read(store: &Store) -> Self {
        let log = store.list_event_log().await.unwrap();
        let logged = log.iter().map(|row| decode_row(&row.data).unwrap()).collect();
        let mut blocks = Vec::new();
        for workspace in store.list_event_workspaces("", 1_000).await.unwrap() {
            for day in store.list_event_days(&workspace, 0..=1_000_000).await.unwrap() {
                let days = day.day..=day.day;
                let columns =
                    store.list_event_columns(&workspace, days, u64::MAX >> 1).await.unwrap();
                for block in columns.chunk_by(|left, right| left.seq == right.seq) {
                    blocks.push((workspace.clone(), day.day, decode(block)));
                }
            }
        }
        Self { logged, blocks }
    }

    /// The same of a store that a server process uses.
    pub async fn read_from(home: &Home) -> Self {
        Self::read(&open_store(home).await).await
    }

    pub fn batches(&self) -> impl Iterator<Item = &EventBatch> {
        self.logged.iter().chain(self.blocks.iter().map(|(_, _, batch)| batch))
    }

    /// Redirects by link.
    pub fn clicks(&self) -> BTreeMap<i64, u64> {
        let mut clicks = BTreeMap::new();
        for batch in self.batches() {
            for (event, link) in batch.links.iter().enumerate() {
                if matches!(batch.text(TextColumn::Answer, event), "30x" | "") {
                    *clicks.entry(link.0).or_default() += u64::from(batch.counts[event]);
                }
            }
        }
        clicks
    }

    /// All redirects.
    pub fn total(&self) -> u64 {
        self.clicks().values().sum()
    }

    /// Events in all.
    pub fn len(&self) -> usize {
        self.batches().map(EventBatch::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distinct values of a column.
    pub fn values(&self, column: TextColumn) -> Vec<String> {
        let texts = self.batches().flat_map(|batch| {
            (0..batch.len()).map(move |event| batch.text(column, event).to_owned())
        });
        let mut values: Vec<String> = texts.collect();
        values.sort();
        values.dedup();
        values
    }
}

/// A store that a server process uses, opened once more.
pub async fn open_store(home: &Home) -> Store {
    let env = [("KURZ_STORE".to_owned(), home.store())];
    let config = Config::load(&Overrides::default(), env, Path::new("/nonexistent")).unwrap();
    Store::open(&config.store).await.unwrap()
}

fn decode(block: &[EventColumn]) -> EventBatch {
    decode_columns(block.iter().map(|column| (column.column, column.data.as_slice()))).unwrap()
}
