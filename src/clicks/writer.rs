//! The click writer: takes the clicks from the queues, sums them by link and hour, has events made of them,
//! and carries out the steps of the flush planner.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::clicks::RedirectMetrics;
use crate::clicks::event_maker::{ClickClassifier, EventMaker, count_only, log_rows, note_dropped};
use crate::clicks::event_room::EventRoom;
use crate::clicks::orphan_misses::OrphanMisses;
use crate::store::{Error, LogRow, LoggedEvents, Store, WriteSeq};
use kurz_core::analytics::AnalyticsMode;
use kurz_core::clicks::ClickTotals;
use kurz_core::clicks::planner::{BatchDetails, FlushPlanner, FlushSizes, NumberedTotals, Task};
use kurz_core::clicks::totals::{merge, push};
use kurz_core::clicks::{Click, ClickDetails, ClickFlags, ClickQueue, QueuedClicks, VisitorKeys};
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;

/// How often the queues are flushed.
pub(crate) const FLUSH_EVERY: Duration = Duration::from_millis(250);
/// How long totals may stay in the click log before they are applied to the tables, even under load.
const LOG_AGE: Duration = Duration::from_secs(30);
/// After how many events in the log, or how long, they become blocks.
const CUT_EVENTS: u64 = 32_768;
const CUT_AGE: Duration = Duration::from_secs(30);

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
    /// Clicks that found their queue full, summed by link and hour, those of links with analytics apart.
    overflow: Mutex<BTreeMap<(LinkId, Hour, bool), ClickTotals>>,
    /// The lock allows one flush at a time.
    state: tokio::sync::Mutex<WriterState>,
    /// The id of this process in the click log.
    writer: i64,
    metrics: RedirectMetrics,
    /// Whether the store has no room for events.
    is_full: AtomicBool,
    /// Whether modes were changed, so that what is remembered of links is not true any more.
    modes_changed: AtomicBool,
    orphans: OrphanMisses,
}

#[derive(Debug)]
struct WriterState {
    planner: FlushPlanner,
    /// Exchanged with the lists of queues, so that none is allocated anew.
    buffers: Vec<QueuedClicks>,
    maker: EventMaker,
    /// Events of this process in the event log, and since when.
    logged_events: u64,
    logged_since: Option<Timestamp>,
    room: EventRoom,
}

impl WriterState {
    fn new(planner: FlushPlanner, maker: EventMaker) -> Self {
        Self {
            planner,
            buffers: Vec::new(),
            maker,
            logged_events: 0,
            logged_since: None,
            room: EventRoom::default(),
        }
    }
}

impl ClickWriter {
    /// Register a writer with one queue per worker. Of links in workspaces that do not say otherwise, `mode`
    /// is kept.
    pub async fn start(
        workers: usize,
        store: &Store,
        classifier: Box<dyn ClickClassifier>,
        mode: AnalyticsMode,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let writer = store.take_numbers("writer", 1).await?;
        store.register_writer(writer, now).await?;
        let planner = FlushPlanner::new(LOG_AGE).with(sizes(store));
        Ok(Self {
            queues: (0..workers.max(1)).map(|_| Arc::default()).collect(),
            overflow: Mutex::default(),
            state: tokio::sync::Mutex::new(WriterState::new(
                planner,
                EventMaker::new(classifier, mode),
            )),
            writer,
            metrics: RedirectMetrics::default(),
            is_full: AtomicBool::new(false),
            modes_changed: AtomicBool::new(false),
            orphans: OrphanMisses::default(),
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

    /// Hash visitors under these keys from now on.
    pub fn set_visitor_keys(&self, keys: VisitorKeys) {
        for queue in &self.queues {
            queue.set_visitor_keys(keys);
        }
    }

    /// Count a click. When the queue is full its details are dropped; the click itself is still
    /// counted, in its own hour.
    #[inline]
    pub fn count(&self, queue: &ClickQueue, click: Click, details: Option<&ClickDetails<'_>>) {
        if !queue.push(click, details) {
            self.count_in_overflow(&click);
        }
    }

    #[cold]
    fn count_in_overflow(&self, click: &Click) {
        note_dropped("queue", 1);
        self.metrics.add(click);
        let Some(totals) = click.totals() else { return };
        let key = (totals.link, totals.hour, click.flags.has(ClickFlags::DETAILS));
        let mut overflow = lock(&self.overflow);
        overflow.entry(key).and_modify(|sum| sum.add(&totals)).or_insert(totals);
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
        self.collect(&mut state, store, now).await;
        let mut collected = Instant::now();
        while let Some(task) = state.planner.plan(now, all) {
            let done = self.carry_out(task, &mut state, store, counters, now).await;
            if let Err(error) = done {
                make_room(&mut state, &error);
                return Err(error);
            }
            // A long flush must not leave newer clicks in memory only.
            if collected.elapsed() >= FLUSH_EVERY {
                self.collect(&mut state, store, now).await;
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

    /// Misses that are not written yet.
    pub(crate) fn orphans(&self) -> &OrphanMisses {
        &self.orphans
    }

    /// Whether the store has no room for events: clicks are only counted.
    pub fn is_without_room(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Look modes of links up again.
    pub fn forget_modes(&self) {
        self.modes_changed.store(true, Ordering::Relaxed);
    }

    /// Whether so many events of this process are in the event log, or for so long, that they are to become
    /// blocks; says so once.
    pub async fn take_cut(&self, now: Timestamp) -> bool {
        let mut state = self.state.lock().await;
        let is_old = |since: Timestamp| since.plus(CUT_AGE) <= now;
        let is_due = state.logged_events >= CUT_EVENTS || state.logged_since.is_some_and(is_old);
        if is_due {
            (state.logged_events, state.logged_since) = (0, None);
        }
        is_due
    }

    /// Events are still in the log: try again in a while.
    pub async fn cut_failed(&self, now: Timestamp) {
        self.state.lock().await.logged_since.get_or_insert(now);
    }

    /// How many totals are not in the tables yet.
    pub async fn waiting(&self) -> usize {
        self.state.lock().await.planner.waiting()
    }

    /// Move the queued clicks into the planner, with the events that are made of them.
    async fn collect(&self, state: &mut WriterState, store: &Store, now: Timestamp) {
        if state.planner.is_full() {
            // The store takes nothing: clicks stay in the queues, then in the overflow sums.
            return;
        }
        if self.modes_changed.swap(false, Ordering::Relaxed) {
            state.maker.forget_modes();
        }
        let why_dropped = self.why_details_are_dropped(state, store);
        let overflow = std::mem::take(&mut *lock(&self.overflow));
        let (mut totals, mut details) = (Vec::new(), BatchDetails::default());
        let mut batches = Vec::with_capacity(self.queues.len());
        for ((_, _, has_details), sum) in overflow {
            push(&mut totals, sum);
            if has_details {
                push(&mut details.counted, sum);
            }
        }
        for queue in &self.queues {
            let mut queued = state.buffers.pop().unwrap_or_default();
            queue.exchange(&mut queued);
            note_dropped_texts(queued.texts.dropped());
            let clicks = &mut queued.clicks;
            self.metrics.add_all(clicks);
            clicks.sort_unstable_by_key(|click| (click.link, click.at));
            let mut sums = Vec::new();
            for totals in clicks.iter().filter_map(Click::totals) {
                push(&mut sums, totals);
            }
            merge(&mut totals, sums);
            batches.push(queued);
        }
        // Before anything waits: whatever becomes of the details, the clicks count.
        state.planner.take_in(totals);
        for mut queued in batches {
            if let Some(why) = why_dropped {
                count_only(&queued, &mut details, why, |_| true);
                // Not at the next exchange: addresses leave memory as soon as they are not needed.
                queued.clear();
            } else {
                state.maker.describe(&mut queued, &mut details, store, now).await;
            }
            state.buffers.push(queued);
        }
        if why_dropped != Some(NO_ROOM) {
            state.planner.take_in_details(details);
        }
    }

    /// Why the clicks of this flush are only counted, if they are.
    fn why_details_are_dropped(
        &self,
        state: &mut WriterState,
        store: &Store,
    ) -> Option<&'static str> {
        let is_full = state.room.is_full(store);
        if self.is_full.swap(is_full, Ordering::Relaxed) != is_full {
            if is_full {
                tracing::warn!(
                    "the store has no room for events: clicks are only counted until it has"
                );
            } else {
                tracing::info!("the store has room for events again");
            }
        }
        if is_full {
            Some(NO_ROOM)
        } else if !state.planner.has_room_for_details() {
            Some("waiting")
        } else {
            None
        }
    }

    async fn carry_out(
        &self,
        task: Task,
        state: &mut WriterState,
        store: &Store,
        counters: &impl WrittenClicks,
        now: Timestamp,
    ) -> Result<(), Error> {
        let writer = self.writer;
        let planner = &mut state.planner;
        let turn = WriteSeq { writer, number: planner.turn() };
        match (task, planner.sent(), planner.part()) {
            (Task::Add | Task::Log, Some(sent), _) => {
                let (first, details) = planner.sent_details();
                let rows = log_rows(details);
                let events = LoggedEvents { first, rows: &rows };
                match task {
                    Task::Add => store.add_totals(turn, sent.1, events, now).await?,
                    _ => store.log_totals(turn, row(sent), events, now).await?,
                }
                let logged: u64 = rows.iter().map(|row| u64::from(row.events)).sum();
                drop(rows);
                if logged > 0 {
                    state.logged_events += logged;
                    state.logged_since.get_or_insert(now);
                }
                let added = state.planner.did_send(now);
                if task == Task::Add {
                    counters.written(&added);
                }
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

/// After a failed write: a store that is full takes counts before it takes details.
fn make_room(state: &mut WriterState, error: &Error) {
    if matches!(error.kind(), Error::Full(_)) {
        state.room.was_full();
        note_dropped(NO_ROOM, state.planner.drop_details());
    }
}

/// Why details are dropped that do not fit into the store.
const NO_ROOM: &str = "full";

/// On a shared database transactions are short: while one adds clicks to a link, no other instance can
/// reserve hits of that link.
fn sizes(store: &Store) -> FlushSizes {
    let sizes = FlushSizes::default();
    if store.is_single_process() { sizes } else { FlushSizes { few: 200, part: 100, ..sizes } }
}

fn row((seq, totals): NumberedTotals<'_>) -> LogRow<'_> {
    LogRow { seq, totals }
}

/// Texts that found no room in their batch.
fn note_dropped_texts(dropped: u32) {
    if dropped > 0 {
        let counter = metrics::counter!("kurz_click_details_dropped_total", "why" => "texts");
        counter.increment(dropped.into());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every operation leaves the guarded value consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clicks::PlainClassifier;
    use crate::config::{Config, Overrides};
    use kurz_core::clicks::planner::EncodedEvents;
    use kurz_core::clicks::queue::CAPACITY;
    use kurz_core::clicks::{ClickAnswer, ClickFlags};
    use std::path::Path;

    fn maker() -> EventMaker {
        EventMaker::new(Box::new(PlainClassifier), AnalyticsMode::Events)
    }

    fn writer() -> ClickWriter {
        ClickWriter {
            queues: vec![Arc::default()],
            overflow: Mutex::default(),
            state: tokio::sync::Mutex::new(WriterState::new(FlushPlanner::default(), maker())),
            writer: 1,
            metrics: RedirectMetrics::default(),
            is_full: AtomicBool::new(false),
            modes_changed: AtomicBool::new(false),
            orphans: OrphanMisses::default(),
        }
    }

    async fn open_store(folder: &Path) -> Store {
        let env =
            [("KURZ_STORE".to_owned(), format!("sqlite://{}", folder.join("kurz.db").display()))];
        let config = Config::load(&Overrides::default(), env, folder).unwrap();
        Store::open(&config.store).await.unwrap()
    }

    fn details(events: u32) -> BatchDetails {
        let rows = vec![EncodedEvents { events, data: vec![0; 100] }];
        BatchDetails { rows, counted: Vec::new() }
    }

    // threats: F3
    #[tokio::test]
    async fn a_full_store_takes_counts_before_it_takes_details() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_store(folder.path()).await;
        let writer = writer();
        let now = Timestamp::from_ms(1);
        let click = Click { flags: ClickFlags::DETAILS, ..Click::new(LinkId(7), now, 5) };
        let mut state = WriterState::new(FlushPlanner::new(LOG_AGE), maker());
        writer.count(&writer.queue(0), click, None);
        writer.collect(&mut state, &store, now).await;
        state.planner.take_in_details(details(3));
        assert!(state.planner.plan(now, false).is_some());
        make_room(&mut state, &Error::Unavailable("a moment".to_owned()));
        assert!(!state.planner.sent_details().1.is_empty(), "it may be there again soon");
        make_room(&mut state, &Error::Full("no space left".to_owned()));
        assert!(state.planner.sent_details().1.is_empty());
        assert_eq!(state.planner.sent().unwrap().1[0].clicks, 1);
        // From then on clicks are counted only, and that is said.
        assert!(!writer.is_without_room());
        writer.count(&writer.queue(0), click, None);
        writer.collect(&mut state, &store, now).await;
        assert!(writer.is_without_room());
        state.planner.did_send(now);
        assert!(state.planner.plan(now, false).is_some());
        assert!(state.planner.sent_details().1.is_empty());
        assert_eq!(state.planner.sent().unwrap().1[0].clicks, 1);
    }

    // threats: E14
    #[tokio::test]
    async fn what_finds_no_room_counts_in_its_own_hour_whoever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = open_store(folder.path()).await;
        let writer = writer();
        let queue = writer.queue(0);
        let hour = |number: i64| Timestamp::from_ms(number * 3_600_000);
        let click = |at, flags| Click { flags, ..Click::new(LinkId(7), at, 5) };
        for _ in 0..CAPACITY {
            writer.count(&queue, click(hour(100), ClickFlags::NONE), None);
        }
        for (at, flags) in [
            (hour(100), ClickFlags::OTHER.with(ClickFlags::DETAILS)),
            (hour(100), ClickFlags::NONE),
            (hour(100), ClickFlags::DETAILS),
            (hour(101), ClickFlags::NONE),
            (hour(101), ClickFlags::OTHER),
            (hour(101), ClickFlags::OTHER),
        ] {
            writer.count(&queue, click(at, flags), None);
        }
        let refused = Click { answer: ClickAnswer::Gone, ..click(hour(102), ClickFlags::NONE) };
        writer.count(&queue, refused, None);
        let mut state = WriterState::new(FlushPlanner::new(LOG_AGE), maker());
        writer.collect(&mut state, &store, hour(500)).await;
        assert!(state.planner.plan(hour(500), true).is_some());
        let (_, totals) = state.planner.sent().unwrap();
        let sums: Vec<_> = totals.iter().map(|it| (it.hour, it.clicks, it.others)).collect();
        let room = u64::try_from(CAPACITY).unwrap();
        assert_eq!(sums, [(Hour::of(hour(100)), room + 3, 1), (Hour::of(hour(101)), 3, 2)]);
        assert_eq!(totals.last().unwrap().last_at, hour(101));
        assert_eq!(totals.iter().map(|it| it.nanos).sum::<u64>(), 5 * (room + 6));
        // Of those with analytics the number becomes events: a person and a bot.
        let (_, details) = state.planner.sent_details();
        assert_eq!((details.counted[0].clicks, details.counted[0].others), (2, 1));
        let rows = log_rows(details);
        assert_eq!((rows.len(), rows[0].events), (1, 2));
        assert_eq!(rows, log_rows(details), "a retry writes the same");
    }
}
