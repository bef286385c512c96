//! The writer behind the lanes: it takes the clicks that gathered, adds them up by link and hour, and
//! carries out what the book says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::link::tally::{merge, push};
use crate::link::{Hour, Tally};
use crate::record::book::{Book, Numbered, Task};
use crate::record::cells::Cells;
use crate::record::{Cell, Click, Lane, Visitor};
use crate::store::{Error, LogPart, LogRow, Place, Store};

/// How long clicks gather before they are made safe.
pub const EVERY: Duration = Duration::from_millis(250);

/// All lanes, all cells, and the way to the store.
#[derive(Debug)]
pub struct Recorder {
    lanes: Vec<Arc<Lane>>,
    cells: Cells,
    /// Cells with visits that found no room in a lane.
    spilled: Mutex<Vec<Arc<Cell>>>,
    /// One writer at a time.
    desk: tokio::sync::Mutex<Desk>,
    /// What this process is called in the log.
    writer: i64,
}

/// What the writer works with.
#[derive(Debug, Default)]
struct Desk {
    book: Book,
    clicks: Vec<Click>,
    tallies: Vec<Tally>,
}

impl Recorder {
    /// With a lane for each of `workers`, and a number that no other process has.
    pub fn new(workers: usize, writer: i64) -> Self {
        Self {
            lanes: (0..workers.max(1)).map(|_| Arc::default()).collect(),
            cells: Cells::default(),
            spilled: Mutex::default(),
            desk: tokio::sync::Mutex::default(),
            writer,
        }
    }

    /// The lane of a worker.
    pub fn lane(&self, worker: usize) -> Arc<Lane> {
        let lane = self.lanes.get(worker % self.lanes.len());
        Arc::clone(lane.expect("there is at least one, and a remainder is less"))
    }

    /// The round to name when the place that is about to be read becomes a cell.
    pub fn round(&self) -> u64 {
        self.cells.round()
    }

    /// The cell of a link that was read in `round`; `None` when it must be read again.
    pub fn cell(&self, place: &Place, round: u64) -> Option<Arc<Cell>> {
        self.cells.get(place.id, place.month, place.month_hits, round)
    }

    /// Leave a click in a lane. Where there is no room its details are dropped, and counted; a
    /// visit is counted all the same, with its link.
    pub fn count(&self, lane: &Lane, cell: &Arc<Cell>, click: Click) {
        if lane.push(click) {
            return;
        }
        metrics::counter!("kurz_click_details_dropped_total").increment(1);
        if click.visitor == Visitor::Person && cell.spill(click.nanos) {
            lock(&self.spilled).push(Arc::clone(cell));
        }
    }

    /// Make safe what gathered, and add to the tables what is due; with `all`, everything. What
    /// cannot be written stays.
    pub async fn flush(&self, store: &Store, now: Timestamp, all: bool) -> Result<(), Error> {
        let mut desk = self.desk.lock().await;
        self.gather(&mut desk, now);
        let mut gathered = Instant::now();
        while let Some(task) = desk.book.plan(now, all) {
            self.carry_out(task, &mut desk.book, store, now).await?;
            // Adding a lot takes longer than clicks may stay unsafe.
            if gathered.elapsed() >= EVERY {
                self.gather(&mut desk, now);
                gathered = Instant::now();
            }
        }
        self.cells.sweep();
        Ok(())
    }

    /// How many tallies are not in the tables yet.
    pub async fn waiting(&self) -> usize {
        self.desk.lock().await.book.waiting()
    }

    /// Take what is in the lanes into the book.
    fn gather(&self, desk: &mut Desk, now: Timestamp) {
        if desk.book.is_full() {
            // The store takes nothing: the lanes fill up, and visits stay with their cells.
            return;
        }
        let Desk { book, clicks, tallies } = desk;
        tallies.clear();
        for lane in &self.lanes {
            lane.exchange(clicks);
            clicks.sort_unstable_by_key(|click| (click.link, click.at));
            let mut sums = Vec::new();
            clicks.drain(..).for_each(|click| push(&mut sums, click.tally()));
            let before = std::mem::take(tallies);
            merge(&before, &sums, tallies);
        }
        let mut late: Vec<Tally> = Vec::new();
        for cell in std::mem::take(&mut *lock(&self.spilled)) {
            let (visits, nanos) = cell.drain();
            let (link, hour) = (cell.link(), Hour::of(now));
            late.push(Tally { link, hour, others: 0, visits, nanos, last_at: now });
        }
        late.sort_by_key(Tally::key);
        book.take_in(&late);
        book.take_in(tallies);
    }

    async fn carry_out(
        &self,
        task: Task,
        book: &mut Book,
        store: &Store,
        now: Timestamp,
    ) -> Result<(), Error> {
        let proof = book.marker().map(|seq| self.row(seq));
        match task {
            Task::Add => {
                store.add_tallies(self.part(book.sent()), proof, now).await?;
                self.cells.wrote(&book.did_send(now));
            }
            Task::Log => {
                store.log_tallies(self.part(book.sent()), proof, now).await?;
                book.did_send(now);
            }
            Task::Cut => {
                let (rows, parts) = book.cut();
                let rows: Vec<LogRow> = rows.into_iter().map(|seq| self.row(seq)).collect();
                let by: Vec<LogPart<'_>> = parts.iter().map(|part| self.part(part)).collect();
                if store.replace_logged(&rows, &by, now).await? {
                    drop(by);
                    book.did_cut(parts);
                } else {
                    // By somebody else, or by a try of this process whose answer got lost.
                    store.settle_own(self.writer).await?;
                    self.cells.wrote(&book.lost_rows());
                }
            }
            Task::Settle => {
                if let Some(part) = book.part() {
                    store.settle_logged(self.part(part)).await?;
                }
                self.cells.wrote(&book.did_settle());
            }
        }
        Ok(())
    }

    fn row(&self, seq: i64) -> LogRow {
        LogRow { writer: self.writer, seq }
    }

    fn part<'a>(&self, numbered: &'a Numbered) -> LogPart<'a> {
        LogPart { row: self.row(numbered.seq), tallies: &numbered.tallies }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded values are whole after every single operation on them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
