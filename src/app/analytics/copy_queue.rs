//! Blocks of events that wait to be copied to ClickHouse. What finds no room is dropped, oldest first, and counted:
//! it is in the store, and copied from there once its day is over.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::NewEventBlock;

/// Bytes of blocks that may wait.
const MOST_BYTES: usize = 64 << 20;
/// What a block takes beside its columns.
const BLOCK_BYTES: usize = 256;

#[derive(Debug)]
pub(crate) struct CopyQueue {
    most: usize,
    waiting: Mutex<WaitingBlocks>,
    /// Held while blocks are copied: one batch at a time.
    pub(super) copying: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct WaitingBlocks {
    blocks: VecDeque<Arc<NewEventBlock>>,
    bytes: usize,
    /// Whether the first ones may have been copied by an attempt that failed.
    is_doubtful: bool,
}

impl Default for CopyQueue {
    fn default() -> Self {
        Self { most: MOST_BYTES, waiting: Mutex::default(), copying: tokio::sync::Mutex::default() }
    }
}

impl CopyQueue {
    pub(super) fn push(&self, blocks: Vec<NewEventBlock>) {
        let mut waiting = self.lock();
        for block in blocks {
            waiting.bytes += bytes(&block);
            waiting.blocks.push_back(Arc::new(block));
        }
        while waiting.bytes > self.most
            && let Some(block) = waiting.blocks.pop_front()
        {
            waiting.bytes -= bytes(&block);
            let events = u64::try_from(block.events).unwrap_or(0);
            metrics::counter!("kurz_clickhouse_events_dropped_total").increment(events);
        }
        note_bytes(&waiting);
    }

    /// The blocks to copy next, at least one if any waits, and whether some may be copied already.
    pub(super) fn first(&self, most_events: i64) -> (Vec<Arc<NewEventBlock>>, bool) {
        let waiting = self.lock();
        let mut events = 0;
        let fits = |block: &&Arc<NewEventBlock>| {
            let is_first = events == 0;
            events += block.events.max(1);
            is_first || events <= most_events
        };
        (waiting.blocks.iter().take_while(fits).cloned().collect(), waiting.is_doubtful)
    }

    /// These are copied, or not to be copied any more.
    pub(super) fn done(&self, blocks: &[Arc<NewEventBlock>]) {
        let done: HashSet<i64> = blocks.iter().map(|block| block.seq).collect();
        let mut waiting = self.lock();
        waiting.is_doubtful = false;
        waiting.blocks.retain(|block| !done.contains(&block.seq));
        waiting.bytes = waiting.blocks.iter().map(|block| bytes(block)).sum();
        note_bytes(&waiting);
    }

    /// Whether they were copied is not known.
    pub(super) fn failed(&self) {
        self.lock().is_doubtful = true;
    }

    fn lock(&self) -> MutexGuard<'_, WaitingBlocks> {
        // Every operation leaves the list consistent.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bytes(block: &NewEventBlock) -> usize {
    BLOCK_BYTES + block.columns.iter().map(|(_, data)| data.len()).sum::<usize>()
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "far below 2^53")]
fn note_bytes(waiting: &WaitingBlocks) {
    metrics::gauge!("kurz_clickhouse_waiting_bytes").set(waiting.bytes as f64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::code::WorkspaceId;

    fn block(seq: i64) -> NewEventBlock {
        let workspace = WorkspaceId::parse("team").unwrap();
        NewEventBlock { workspace, day: 1, seq, events: 10, columns: vec![(1, vec![0; 744])] }
    }

    fn waiting(queue: &CopyQueue) -> Vec<i64> {
        queue.first(i64::MAX).0.iter().map(|block| block.seq).collect()
    }

    #[test]
    fn a_full_queue_drops_the_oldest_blocks() {
        let queue = CopyQueue { most: 3_000, ..CopyQueue::default() };
        queue.push((1..=5).map(block).collect());
        assert_eq!(waiting(&queue), [3, 4, 5]);
        queue.push(vec![block(6)]);
        assert_eq!(waiting(&queue), [4, 5, 6]);
        let large = NewEventBlock { columns: vec![(1, vec![0; 5_000])], ..block(7) };
        queue.push(vec![large]);
        assert_eq!(waiting(&queue), [0; 0], "what is larger than the queue does not wait");
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn blocks_leave_the_queue_when_they_are_copied() {
        let queue = CopyQueue::default();
        queue.push((1..=5).map(block).collect());
        let (first, is_doubtful) = queue.first(25);
        assert_eq!((first.len(), is_doubtful), (2, false));
        queue.failed();
        let (first, is_doubtful) = queue.first(5);
        assert_eq!((first.len(), is_doubtful), (1, true), "a block larger than a batch is one");
        queue.done(&first);
        assert_eq!(waiting(&queue), [2, 3, 4, 5]);
        assert!(!queue.first(1).1);
        queue.done(&queue.first(i64::MAX).0);
        assert_eq!(queue.lock().bytes, 0);
    }
}
