//! The writer behind the lanes: it takes the clicks that gathered, adds them up by link and hour, and
//! carries out what the book says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Timestamp;
use crate::ledger::Ledger;
use crate::link::tally::{merge, push};
use crate::link::{Hour, LinkId, Tally};
use crate::record::book::{Book, Numbered, Task};
use crate::record::cells::Cells;
use crate::record::{Cell, Click, Entry, Face, Lane};
use crate::store::{Error, LogRow, Place, Store, Turn};

/// How long clicks gather before they are made safe.
pub const EVERY: Duration = Duration::from_millis(250);
/// How long tallies may wait in the log while there is no time for them: alone, and where the tables
/// are what other instances go by.
const LONGEST_ALONE: Duration = Duration::from_secs(30);
const LONGEST_SHARED: Duration = Duration::from_secs(4);

/// All lanes, all cells, and the way to the store.
#[derive(Debug)]
pub struct Recorder {
    lanes: Vec<Arc<Lane>>,
    cells: Cells<Entry>,
    /// What found no room in a lane, summed up by link and hour.
    spilled: Mutex<BTreeMap<(LinkId, Hour), Tally>>,
    /// One writer at a time.
    desk: tokio::sync::Mutex<Desk>,
    /// What this process is called where clicks are written.
    writer: i64,
    /// Where instances count hits together.
    ledger: Option<Arc<Ledger>>,
}

/// What the writer works with.
#[derive(Debug, Default)]
struct Desk {
    book: Book,
    clicks: Vec<Click>,
}

impl Recorder {
    /// With a lane for each of `workers`, and a number that no other process has. Limits are kept by
    /// `ledger`, or by each cell alone.
    pub async fn start(
        workers: usize,
        store: &Store,
        ledger: Option<Arc<Ledger>>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let writer = store.take_numbers("writer", 1).await?;
        store.register_writer(writer, now).await?;
        // What a ledger begins with when it lost its memory is what the tables say.
        let longest = if ledger.is_some() { LONGEST_SHARED } else { LONGEST_ALONE };
        let desk = Desk { book: Book::new(longest), ..Desk::default() };
        Ok(Self {
            lanes: (0..workers.max(1)).map(|_| Arc::default()).collect(),
            cells: Cells::default(),
            spilled: Mutex::default(),
            desk: tokio::sync::Mutex::new(desk),
            writer,
            ledger,
        })
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.lanes.len()
    }

    /// The lane of a worker.
    pub fn lane(&self, worker: usize) -> Arc<Lane> {
        let lane = self.lanes.get(worker % self.lanes.len());
        Arc::clone(lane.expect("there is at least one, and a remainder is less"))
    }

    /// Where instances count hits together; `None` where this one counts alone.
    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    /// The round to name when the place that is about to be read becomes a cell.
    pub fn round(&self) -> u64 {
        self.cells.round()
    }

    /// A link that was read in `round`, with its counters; `None` when it must be read again.
    pub fn entry(&self, place: &Place, face: &Face<'_>, round: u64) -> Option<Entry> {
        let first = || {
            let hits = u64::try_from(place.month_hits).unwrap_or_default();
            let ledger = self.ledger.as_ref();
            let reservation = ledger.map(|ledger| ledger.reservation(place.id, place.month, hits));
            Entry::new(face, Cell::new(place.id, place.month, place.month_hits, reservation))
        };
        self.cells.get(place.id, round, |known| known.wearing(face), first)
    }

    /// Leave a click in a lane. Where there is no room its details are dropped, and counted; it
    /// counts all the same.
    pub fn count(&self, lane: &Lane, click: Click) {
        if lane.push(click) {
            return;
        }
        metrics::counter!("kurz_click_details_dropped_total").increment(1);
        let tally = click.tally();
        let mut spilled = lock(&self.spilled);
        spilled.entry(tally.key()).and_modify(|sum| sum.add(&tally)).or_insert(tally);
    }

    /// Make safe what gathered, and add to the tables what is due; with `all`, everything. What
    /// cannot be written stays.
    pub async fn flush(&self, store: &Store, now: Timestamp, all: bool) -> Result<(), Error> {
        let mut desk = self.desk.lock().await;
        self.gather(&mut desk);
        let mut gathered = Instant::now();
        while let Some(task) = desk.book.plan(now, all) {
            self.carry_out(task, &mut desk.book, store, now).await?;
            // Adding a lot takes longer than clicks may stay unsafe.
            if gathered.elapsed() >= EVERY {
                self.gather(&mut desk);
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
    fn gather(&self, desk: &mut Desk) {
        if desk.book.is_full() {
            // The store takes nothing: the lanes fill up, and visits stay with their cells.
            return;
        }
        let spilled = std::mem::take(&mut *lock(&self.spilled));
        let mut tallies: Vec<Tally> = spilled.into_values().collect();
        for lane in &self.lanes {
            let clicks = &mut desk.clicks;
            lane.exchange(clicks);
            clicks.sort_unstable_by_key(|click| (click.link, click.at));
            let mut sums = Vec::new();
            for click in clicks.drain(..) {
                push(&mut sums, click.tally());
            }
            merge(&mut tallies, sums);
        }
        desk.book.take_in(tallies);
    }

    async fn carry_out(
        &self,
        task: Task,
        book: &mut Book,
        store: &Store,
        now: Timestamp,
    ) -> Result<(), Error> {
        let writer = self.writer;
        let turn = Turn { writer, number: book.turn() };
        match (task, book.sent(), book.part()) {
            (Task::Add, Some((_, tallies)), _) => {
                store.add_tallies(turn, tallies, now).await?;
                self.cells.wrote(&book.did_send(now));
            }
            (Task::Log, Some(sent), _) => {
                store.log_tallies(turn, row(sent), now).await?;
                book.did_send(now);
            }
            (Task::Settle, _, Some(part)) => {
                store.settle_logged(writer, row(part)).await?;
                self.cells.wrote(part.1);
                book.did_settle();
            }
            _ => {
                let (rows, parts) = book.cut();
                if store.replace_logged(writer, rows, parts.map(row)).await? {
                    book.did_cut();
                } else {
                    // By somebody else, or by a try of this process whose answer got lost.
                    store.settle_own(writer).await?;
                    self.cells.wrote(&book.lost_rows());
                }
            }
        }
        Ok(())
    }
}

fn row((seq, tallies): Numbered<'_>) -> LogRow<'_> {
    LogRow { seq, tallies }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded values are whole after every single operation on them.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Visitor;
    use crate::record::lane::ROOM;

    fn recorder() -> Recorder {
        Recorder {
            lanes: vec![Arc::default()],
            cells: Cells::default(),
            spilled: Mutex::default(),
            desk: tokio::sync::Mutex::default(),
            writer: 1,
            ledger: None,
        }
    }

    // threats: E14
    #[test]
    fn what_finds_no_room_counts_in_its_own_hour_whoever_it_is() {
        let recorder = recorder();
        let lane = recorder.lane(0);
        let hour = |number: i64| Timestamp::from_ms(number * 3_600_000);
        let click = |at, visitor| Click { link: LinkId(7), at, nanos: 5, visitor };
        for _ in 0..ROOM {
            recorder.count(&lane, click(hour(100), Visitor::Person));
        }
        for (at, visitor) in [
            (hour(100), Visitor::Other),
            (hour(100), Visitor::Person),
            (hour(101), Visitor::Person),
            (hour(101), Visitor::Other),
            (hour(101), Visitor::Other),
        ] {
            recorder.count(&lane, click(at, visitor));
        }
        let mut desk = Desk { book: Book::new(LONGEST_ALONE), ..Desk::default() };
        recorder.gather(&mut desk);
        assert!(desk.book.plan(hour(500), true).is_some());
        let (_, tallies) = desk.book.sent().unwrap();
        let sums: Vec<_> = tallies.iter().map(|it| (it.hour, it.visits, it.others)).collect();
        let room = u64::try_from(ROOM).unwrap();
        assert_eq!(sums, [(Hour::of(hour(100)), room + 1, 1), (Hour::of(hour(101)), 1, 2)]);
        assert_eq!(tallies.last().unwrap().last_at, hour(101));
        assert_eq!(tallies.iter().map(|it| it.nanos).sum::<u64>(), 5 * (room + 2));
    }
}
