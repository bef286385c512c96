//! The click writer: takes the events from the queues, sums them by link and hour, and carries out
//! the steps of the flush planner.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clicks::RedirectMetrics;
use crate::store::{Error, LogRow, Store, WriteSeq};
use kurz_core::clicks::ClickTotals;
use kurz_core::clicks::planner::{FlushPlanner, FlushSizes, NumberedTotals, Task};
use kurz_core::clicks::totals::{merge, push};
use kurz_core::clicks::{Click, ClickQueue};
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;

/// How often the queues are flushed.
pub(crate) const FLUSH_EVERY: Duration = Duration::from_millis(250);
/// How long totals may stay in the click log before they are applied to the tables, even under load.
const LOG_AGE: Duration = Duration::from_secs(30);

/// Told which clicks are in the tables, so that counters in memory can be dropped.
pub trait WrittenClicks {
    /// These totals are in the tables now.
    fn written(&self, totals: &[ClickTotals]);

    /// Drop some of the counters that nothing uses any more. Called once per flush.
    fn sweep(&self);

    /// Whether all clicks of `link` are in the tables.
    fn is_written(&self, link: LinkId) -> bool;
}

/// Owns the queues of all workers and writes their clicks to the store.
#[derive(Debug)]
pub struct ClickWriter {
    queues: Vec<Arc<ClickQueue>>,
    /// Clicks that found their queue full, summed by link and hour.
    overflow: Mutex<BTreeMap<(LinkId, Hour), ClickTotals>>,
    /// The lock allows one flush at a time.
    state: tokio::sync::Mutex<WriterState>,
    /// The id of this process in the click log.
    writer: i64,
    metrics: RedirectMetrics,
}

#[derive(Debug, Default)]
struct WriterState {
    planner: FlushPlanner,
    /// Exchanged with a queue's list, so that neither is allocated anew.
    buffer: Vec<Click>,
}

impl ClickWriter {
    /// Register a writer with one queue per worker.
    pub async fn start(workers: usize, store: &Store, now: Timestamp) -> Result<Self, Error> {
        let writer = store.take_numbers("writer", 1).await?;
        store.register_writer(writer, now).await?;
        let planner = FlushPlanner::new(LOG_AGE).with(sizes(store));
        Ok(Self {
            queues: (0..workers.max(1)).map(|_| Arc::default()).collect(),
            overflow: Mutex::default(),
            state: tokio::sync::Mutex::new(WriterState { planner, buffer: Vec::new() }),
            writer,
            metrics: RedirectMetrics::default(),
        })
    }

    /// The id of this process in the click log.
    pub fn id(&self) -> i64 {
        self.writer
    }

    pub fn queue(&self, worker: usize) -> Arc<ClickQueue> {
        let queue = self.queues.get(worker % self.queues.len());
        Arc::clone(queue.expect("there is at least one, and a remainder is less"))
    }

    /// Count a click. When the queue is full its details are dropped; the click itself is still
    /// counted, in its own hour.
    pub fn count(&self, queue: &ClickQueue, click: Click) {
        if queue.push(click) {
            return;
        }
        metrics::counter!("kurz_click_details_dropped_total").increment(1);
        self.metrics.add(&click);
        let totals = click.totals();
        let mut overflow = lock(&self.overflow);
        overflow.entry(totals.key()).and_modify(|sum| sum.add(&totals)).or_insert(totals);
    }

    /// Write all queued clicks to the store, and apply to the tables what is due; with `all`,
    /// everything. What cannot be written is kept for the next flush.
    pub async fn flush(
        &self,
        store: &Store,
        counters: &impl WrittenClicks,
        now: Timestamp,
        all: bool,
    ) -> Result<(), Error> {
        let mut state = self.state.lock().await;
        self.collect(&mut state);
        let mut collected = Instant::now();
        while let Some(task) = state.planner.plan(now, all) {
            self.carry_out(task, &mut state.planner, store, counters, now).await?;
            // A long flush must not leave newer clicks in memory only.
            if collected.elapsed() >= FLUSH_EVERY {
                self.collect(&mut state);
                collected = Instant::now();
            }
        }
        counters.sweep();
        Ok(())
    }

    /// The metrics of the clicks that were collected so far.
    pub fn metrics(&self) -> &RedirectMetrics {
        &self.metrics
    }

    /// How many totals are not in the tables yet.
    pub async fn waiting(&self) -> usize {
        self.state.lock().await.planner.waiting()
    }

    /// Move the queued clicks into the planner.
    fn collect(&self, state: &mut WriterState) {
        if state.planner.is_full() {
            // The store takes nothing: clicks stay in the queues, then in the overflow sums.
            return;
        }
        let overflow = std::mem::take(&mut *lock(&self.overflow));
        let mut totals: Vec<ClickTotals> = overflow.into_values().collect();
        for queue in &self.queues {
            let clicks = &mut state.buffer;
            queue.exchange(clicks);
            self.metrics.add_all(clicks);
            clicks.sort_unstable_by_key(|click| (click.link, click.at));
            let mut sums = Vec::new();
            for click in clicks.drain(..) {
                push(&mut sums, click.totals());
            }
            merge(&mut totals, sums);
        }
        state.planner.take_in(totals);
    }

    async fn carry_out(
        &self,
        task: Task,
        planner: &mut FlushPlanner,
        store: &Store,
        counters: &impl WrittenClicks,
        now: Timestamp,
    ) -> Result<(), Error> {
        let writer = self.writer;
        let turn = WriteSeq { writer, number: planner.turn() };
        match (task, planner.sent(), planner.part()) {
            (Task::Add, Some((_, totals)), _) => {
                store.add_totals(turn, totals, now).await?;
                counters.written(&planner.did_send(now));
            }
            (Task::Log, Some(sent), _) => {
                store.log_totals(turn, row(sent), now).await?;
                planner.did_send(now);
            }
            (Task::Settle, _, Some(part)) => {
                store.settle_logged(writer, row(part)).await?;
                counters.written(part.1);
                planner.did_settle();
            }
            _ => {
                let (rows, parts) = planner.cut();
                if store.replace_logged(writer, rows, parts.map(row)).await? {
                    planner.did_cut();
                } else {
                    // Another instance took this one for dead and applied the rows, or an earlier
                    // attempt succeeded and its answer was lost.
                    store.settle_own(writer).await?;
                    counters.written(&planner.lost_rows());
                }
            }
        }
        Ok(())
    }
}

/// On a shared database transactions are short: while one adds clicks to a link, no other instance can
/// reserve hits of that link.
fn sizes(store: &Store) -> FlushSizes {
    let sizes = FlushSizes::default();
    if store.is_single_process() { sizes } else { FlushSizes { few: 200, part: 100, ..sizes } }
}

fn row((seq, totals): NumberedTotals<'_>) -> LogRow<'_> {
    LogRow { seq, totals }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurz_core::clicks::VisitorKind;
    use kurz_core::clicks::queue::CAPACITY;

    fn writer() -> ClickWriter {
        ClickWriter {
            queues: vec![Arc::default()],
            overflow: Mutex::default(),
            state: tokio::sync::Mutex::default(),
            writer: 1,
            metrics: RedirectMetrics::default(),
        }
    }

    // threats: E14
    #[test]
    fn what_finds_no_room_counts_in_its_own_hour_whoever_it_is() {
        let writer = writer();
        let queue = writer.queue(0);
        let hour = |number: i64| Timestamp::from_ms(number * 3_600_000);
        let click = |at, visitor| Click { link: LinkId(7), at, nanos: 5, visitor, reserved: false };
        for _ in 0..CAPACITY {
            writer.count(&queue, click(hour(100), VisitorKind::Person));
        }
        for (at, visitor) in [
            (hour(100), VisitorKind::Other),
            (hour(100), VisitorKind::Person),
            (hour(101), VisitorKind::Person),
            (hour(101), VisitorKind::Other),
            (hour(101), VisitorKind::Other),
        ] {
            writer.count(&queue, click(at, visitor));
        }
        let planner = FlushPlanner::new(LOG_AGE);
        let mut state = WriterState { planner, buffer: Vec::new() };
        writer.collect(&mut state);
        assert!(state.planner.plan(hour(500), true).is_some());
        let (_, totals) = state.planner.sent().unwrap();
        let sums: Vec<_> = totals.iter().map(|it| (it.hour, it.clicks, it.others)).collect();
        let room = u64::try_from(CAPACITY).unwrap();
        assert_eq!(sums, [(Hour::of(hour(100)), room + 2, 1), (Hour::of(hour(101)), 3, 2)]);
        assert_eq!(totals.last().unwrap().last_at, hour(101));
        assert_eq!(totals.iter().map(|it| it.nanos).sum::<u64>(), 5 * (room + 5));
    }
}
