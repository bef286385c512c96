//! Turns rows of the event log into blocks, by workspace and UTC day. Each instance does so with its own rows;
//! those of an instance that ended are done by whoever holds the lock of events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app::{App, AppError};
use crate::clicks::link_info::{AskedLink, LinkInfos};
use crate::store::{self, EventLogRow, NewEventBlock};
use kurz_core::analytics::block::{BlockError, decode_row, encode_columns};
use kurz_core::analytics::{BatchBuilder, EventBatch, day_of};
use kurz_core::code::WorkspaceId;

/// Rows that are read at a time, and events that become blocks in one transaction.
const ROWS: i64 = 256;
const EVENTS: i64 = 65_536;
/// A row that is so old was left by an instance that ended.
const LEFT_AFTER: Duration = Duration::from_mins(2);

/// A block that has no number yet.
pub(super) struct UnnumberedBlock {
    pub(super) workspace: Arc<WorkspaceId>,
    pub(super) day: i64,
    pub(super) events: usize,
    pub(super) columns: Vec<(u8, Vec<u8>)>,
}

impl App {
    /// Turn the events of this process in the log into blocks, if there are enough of them or if they have
    /// been there for long enough; with `all`, in any case.
    pub async fn cut_own_events(&self, all: bool) -> Result<(), AppError> {
        let clicks = &self.parts.clicks;
        if !clicks.take_cut(self.parts.clock.now()).await && !all {
            return Ok(());
        }
        let cut = self.cut_rows_of(clicks.id()).await;
        if cut.is_err() {
            clicks.cut_failed(self.parts.clock.now()).await;
        }
        cut
    }

    async fn cut_rows_of(&self, writer: i64) -> Result<(), AppError> {
        let mut after = i64::MIN;
        loop {
            let rows = self.parts.store.list_own_events(writer, after, ROWS).await?;
            let rows = up_to_a_block(rows);
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.seq;
            self.cut_rows(rows).await?;
        }
    }

    /// Turn rows that were left in the log into blocks.
    pub(super) async fn cut_left_events(&self) -> Result<(), AppError> {
        let mut after = (i64::MIN, i64::MIN);
        loop {
            let now = self.parts.clock.now();
            let rows = self.parts.store.list_left_events(after, LEFT_AFTER, ROWS, now).await?;
            let rows = up_to_a_block(rows);
            let Some(last) = rows.last() else { return Ok(()) };
            after = (last.writer, last.seq);
            self.cut_rows(rows).await?;
        }
    }

    /// Turn rows into blocks. Rows that another instance took meanwhile are left to it.
    async fn cut_rows(&self, rows: Vec<EventLogRow>) -> Result<(), AppError> {
        let (rows, batches) = blocking(move || decode(rows)).await?;
        let links = batches.iter().flat_map(|batch| batch.links.iter().copied());
        let links = AskedLink::each_once(links);
        let now = self.parts.clock.now();
        let learned = self.event_links.lock().await.learn(&links, &self.parts.store, now).await;
        let (infos, failure) = learned;
        if let Some(error) = failure {
            return Err(error.into());
        }
        let blocks = blocking(move || split(&batches, &infos)).await?;
        let blocks = self.number_blocks(blocks).await?;
        let copies = self.parts.clickhouse.is_some().then(|| blocks.clone());
        if !self.parts.store.cut_events(&rows, blocks).await? {
            tracing::debug!("rows of the event log were cut by another instance");
        } else if let Some(copies) = copies {
            self.copies.push(copies);
        }
        Ok(())
    }

    pub(super) async fn number_blocks(
        &self,
        blocks: Vec<UnnumberedBlock>,
    ) -> Result<Vec<NewEventBlock>, AppError> {
        let count = i64::try_from(blocks.len()).unwrap_or(i64::MAX);
        if count == 0 {
            return Ok(Vec::new());
        }
        let first = self.parts.store.take_numbers("event_block", count).await?;
        let numbered = (first..).zip(blocks).map(|(seq, block)| NewEventBlock {
            workspace: (*block.workspace).clone(),
            day: block.day,
            seq,
            events: i64::try_from(block.events).unwrap_or(i64::MAX),
            columns: block.columns,
        });
        Ok(numbered.collect())
    }
}

/// Do work that takes the processor for long on a thread for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AppError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| AppError::Store(store::Error::Unavailable(error.to_string())))
}

/// The first rows, as many as become blocks together.
fn up_to_a_block(rows: Vec<EventLogRow>) -> Vec<EventLogRow> {
    let mut events = 0;
    let fits = |row: &EventLogRow| {
        let is_first = events == 0;
        events += row.events.max(1);
        is_first || events <= EVENTS
    };
    rows.into_iter().take_while(fits).collect()
}

/// The events of rows, and the rows that are done with: those that a later version of kurz wrote stay.
fn decode(rows: Vec<EventLogRow>) -> (Vec<EventLogRow>, Vec<EventBatch>) {
    let (mut done, mut batches) = (Vec::new(), Vec::new());
    for row in rows {
        let (writer, seq) = (row.writer, row.seq);
        match decode_row(&row.data) {
            Ok(batch) => batches.push(batch),
            Err(error @ BlockError::Version(_)) => {
                tracing::error!(writer, seq, %error, "a row of the event log is left alone");
                continue;
            }
            Err(error) => {
                metrics::counter!("kurz_event_blocks_damaged_total").increment(1);
                tracing::error!(writer, seq, %error, "a row of the event log is damaged and is removed");
            }
        }
        done.push(row);
    }
    (done, batches)
}

/// Blocks by workspace and day, as far as the modes of the links keep anything.
fn split(batches: &[EventBatch], infos: &LinkInfos) -> Vec<UnnumberedBlock> {
    let mut builders: BTreeMap<(&str, i64), (Arc<WorkspaceId>, BatchBuilder)> = BTreeMap::new();
    for batch in batches {
        let mut parts: BTreeMap<_, (&Arc<WorkspaceId>, Vec<usize>)> = BTreeMap::new();
        for (event, (link, at)) in batch.links.iter().zip(&batch.times).enumerate() {
            let Some(info) = infos.get(*link) else { continue };
            let key = (info.workspace.as_str(), day_of(*at), info.mode);
            parts.entry(key).or_insert_with(|| (&info.workspace, Vec::new())).1.push(event);
        }
        for ((name, day, mode), (workspace, events)) in parts {
            let entry = builders.entry((name, day));
            let (_, builder) =
                entry.or_insert_with(|| (Arc::clone(workspace), BatchBuilder::default()));
            builder.add(batch, &events, mode);
        }
    }
    let filled = builders.into_iter().filter(|(_, (_, builder))| !builder.is_empty());
    let block =
        |((_, day), (workspace, builder)): ((&str, i64), (Arc<WorkspaceId>, BatchBuilder))| {
            let batch = builder.finish();
            let columns = encode_columns(&batch);
            UnnumberedBlock { workspace, day, events: batch.len(), columns }
        };
    filled.map(block).collect()
}
