//! Merges small blocks of a day, so that a query reads few: while the day runs whenever there are many of about
//! the same size, and all of them once it is over.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event_log::{UnnumberedBlock, blocking};
use crate::app::{App, AppError};
use crate::store::{BlockKey, EventColumn, HeldLock, SmallBlock};
use kurz_core::analytics::block::{MAX_EVENTS, decode_columns, encode_columns};
use kurz_core::analytics::{BatchBuilder, EventBatch, day_of};
use kurz_core::code::WorkspaceId;

/// Events of a full block.
const FULL: i64 = 65_536;
/// Two blocks of less always make one.
const HALF: i64 = FULL / 2;
/// Blocks of about the same size that become one.
const TIER: usize = 8;
/// So many small blocks have a tier that can be merged: there are five tiers below [`HALF`].
const CROWDED: i64 = 40;
/// Days that are looked at in one go.
const MOST_DAYS: i64 = 100;
/// How long after its end a day still gets events.
const LATE: Duration = Duration::from_mins(10);

impl App {
    pub(super) async fn merge_events(
        &self,
        holding: &HeldLock,
        stop: &CancellationToken,
    ) -> Result<(), AppError> {
        let store = &self.parts.store;
        let running = day_of(self.parts.clock.now().minus(LATE));
        for (days, least) in [(running - 3..=running - 1, 2), (running..=running + 1, CROWDED)] {
            for (day, workspace) in store.list_crowded_days(HALF, days, least, MOST_DAYS).await? {
                if stop.is_cancelled() {
                    return Ok(());
                }
                let blocks = store.list_blocks(&workspace, day).await?;
                let chosen = choose(&blocks, day < running);
                if chosen.len() >= 2 {
                    let merge = |batches: Vec<EventBatch>| {
                        let mut builder = BatchBuilder::default();
                        for batch in &batches {
                            builder.add_all(batch);
                        }
                        builder
                    };
                    self.rewrite_blocks(holding, &workspace, day, &chosen, merge).await?;
                }
            }
        }
        Ok(())
    }

    /// Replace blocks by one with what `edit` makes of their events; `false` when another instance changed
    /// them or the lock was lost.
    pub(super) async fn rewrite_blocks(
        &self,
        holding: &HeldLock,
        workspace: &WorkspaceId,
        day: i64,
        seqs: &[i64],
        edit: impl FnOnce(Vec<EventBatch>) -> BatchBuilder + Send + 'static,
    ) -> Result<bool, AppError> {
        let store = &self.parts.store;
        let mut blocks = Vec::with_capacity(seqs.len());
        for seq in seqs {
            let key = BlockKey { workspace: workspace.clone(), day, seq: *seq };
            let columns = store.list_block_columns(&key).await?;
            blocks.push((key, columns));
        }
        let shared = Arc::new(workspace.clone());
        let work = move || {
            let (mut keys, mut batches) = (Vec::new(), Vec::new());
            for (key, columns) in blocks {
                if let Some(batch) = decode_block(&key, &columns) {
                    keys.push(key);
                    batches.push(batch);
                }
            }
            let batch = edit(batches).finish();
            let events = batch.len().min(MAX_EVENTS);
            let columns = encode_columns(&batch);
            let block = UnnumberedBlock { workspace: shared, day, events, columns };
            (keys, Some(block).filter(|_| events > 0))
        };
        let (keys, block) = blocking(work).await?;
        if keys.is_empty() {
            return Ok(true);
        }
        let blocks = self.number_blocks(block.into_iter().collect()).await?;
        Ok(store.replace_blocks(holding, &keys, blocks, self.parts.clock.now()).await?)
    }
}

/// The events of a block; `None` for one that is damaged, which is left as it is.
pub(super) fn decode_block(key: &BlockKey, columns: &[EventColumn]) -> Option<EventBatch> {
    if columns.is_empty() {
        return None;
    }
    let parts = columns.iter().map(|column| (column.column, column.data.as_slice()));
    match decode_columns(parts) {
        Ok(batch) => Some(batch),
        Err(error) => {
            metrics::counter!("kurz_event_blocks_damaged_total").increment(1);
            let BlockKey { workspace, day, seq } = key;
            tracing::error!(%workspace, day, seq, %error, "a block of events cannot be read");
            None
        }
    }
}

/// The blocks to merge: of a day that is over the smallest ones; of one that runs those of a size of which
/// there are many.
fn choose(blocks: &[SmallBlock], is_over: bool) -> Vec<i64> {
    let mut small: Vec<SmallBlock> = blocks.iter().copied().filter(|it| it.events < FULL).collect();
    small.sort_by_key(|block| (block.events, block.seq));
    if !is_over {
        let tier = |block: &SmallBlock| u64::try_from(block.events).unwrap_or(1).max(1).ilog2() / 3;
        let crowded = (0..6)
            .find(|wanted| small.iter().filter(|block| tier(block) == *wanted).count() >= TIER);
        let Some(crowded) = crowded else { return Vec::new() };
        small.retain(|block| tier(block) == crowded);
    }
    let mut events = 0;
    let fits = |block: &&SmallBlock| {
        events += block.events;
        events <= FULL
    };
    small.iter().take_while(fits).map(|block| block.seq).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(events: &[i64]) -> Vec<SmallBlock> {
        (1..).zip(events).map(|(seq, events)| SmallBlock { seq, events: *events }).collect()
    }

    #[test]
    fn a_running_day_merges_blocks_of_one_size_and_a_day_that_is_over_all_that_fit() {
        let seven = blocks(&[70, 70, 70, 70, 70, 70, 70, 9_000]);
        assert_eq!(choose(&seven, false), [0; 0]);
        assert_eq!(choose(&seven, true), [1, 2, 3, 4, 5, 6, 7, 8]);
        let eight = blocks(&[100, 500, 9_000, 64, 511, 70, 80, 90, 110, 400]);
        assert_eq!(choose(&eight, false), [4, 6, 7, 8, 1, 9, 10, 2, 5]);
        let large = blocks(&[40_000, 65_536, 40_000]);
        assert_eq!(choose(&large, true), [1], "one alone is not merged");
        assert_eq!(choose(&blocks(&[30_000; 9]), false).len(), 2, "no more than a full block");
    }

    #[test]
    fn a_crowded_day_always_has_blocks_to_merge() {
        let sizes = (0..CROWDED).map(|at| [1, 8, 64, 512, 4_096][usize::try_from(at % 5).unwrap()]);
        assert!(choose(&blocks(&sizes.collect::<Vec<_>>()), false).len() >= TIER);
    }
}
