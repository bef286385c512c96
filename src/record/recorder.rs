//! The writer behind the cells.
//!
//! Cells live as long as a cached link holds them or something in them is not written. A link that
//! is loaded again after its cell was dropped must not start from a count that was read before
//! the last write: a load names the round in which it began, and is told to read again when
//! cells were dropped since.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::link::LinkId;
use crate::record::Cell;
use crate::store::{Error, Hits, Place, Store};

/// Cells in one transaction.
const CHUNK: usize = 1000;

/// All cells, and those that wait to be written.
#[derive(Debug, Default)]
pub struct Recorder {
    cells: Mutex<HashMap<LinkId, Arc<Cell>>>,
    dirty: Mutex<Vec<Arc<Cell>>>,
    /// Counts the rounds in which cells were dropped.
    rounds: AtomicU64,
    /// One writer at a time.
    writing: tokio::sync::Mutex<()>,
}

impl Recorder {
    /// The round to name when the place that is about to be read becomes a cell.
    pub fn round(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    /// The cell of a link that was read in `round`; `None` when it must be read again.
    pub fn cell(&self, place: &Place, round: u64) -> Option<Arc<Cell>> {
        let mut cells = lock(&self.cells);
        if let Some(cell) = cells.get(&place.id) {
            return Some(Arc::clone(cell));
        }
        if self.round() != round {
            return None;
        }
        let cell = Arc::new(Cell::new(place.id, place.month, place.month_hits));
        cells.insert(place.id, Arc::clone(&cell));
        Some(cell)
    }

    /// Count a redirect. Takes no lock but for the first hit of a link since the last write.
    pub fn count(&self, cell: &Arc<Cell>, latency: Duration, now: Timestamp) {
        if cell.add(latency, now) {
            lock(&self.dirty).push(Arc::clone(cell));
        }
    }

    /// Write what gathered, and drop the cells that nobody needs. What cannot be written stays.
    pub async fn flush(&self, store: &Store) -> Result<usize, Error> {
        let _one_at_a_time = self.writing.lock().await;
        let waiting = mem::take(&mut *lock(&self.dirty));
        let mut chunks = waiting.chunks(CHUNK);
        let mut written = 0;
        let mut failure = None;
        for chunk in chunks.by_ref() {
            let drained: Vec<(&Arc<Cell>, Hits)> =
                chunk.iter().filter_map(|cell| Some((cell, cell.drain()?))).collect();
            let hits: Vec<Hits> = drained.iter().map(|(_, hits)| *hits).collect();
            match store.add_hits(&hits).await {
                Ok(()) => written += hits.len(),
                Err(error) => {
                    for (cell, hits) in drained {
                        if cell.put_back(&hits) {
                            lock(&self.dirty).push(Arc::clone(cell));
                        }
                    }
                    failure = Some(error);
                    break;
                }
            }
        }
        // After a failure the rest was not drained and still says "told": keep it on the list.
        lock(&self.dirty).extend(chunks.flatten().cloned());
        drop(waiting);
        self.drop_unused();
        failure.map_or(Ok(written), Err)
    }

    /// How many redirects' cells wait to be written.
    pub fn waiting(&self) -> usize {
        lock(&self.dirty).len()
    }

    fn drop_unused(&self) {
        let mut cells = lock(&self.cells);
        let before = cells.len();
        cells.retain(|_, cell| Arc::strong_count(cell) > 1 || !cell.is_clean());
        if cells.len() < before {
            self.rounds.fetch_add(1, Ordering::AcqRel);
            if cells.capacity() > 4 * cells.len() + 1024 {
                cells.shrink_to_fit();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded values are whole after every single operation on them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
