//! Copies blocks of events to ClickHouse: new ones as they are made, and those that are missing there, or that it
//! should not have any more, when somebody looks.
//!
//! Invariants: nothing waits for ClickHouse but this. A block is sent only while it is in the store, so what was
//! deleted or narrowed is not sent afterwards. What is there is compared with the store by block, so whatever went
//! wrong, the next look repairs it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh64::xxh64;

use super::event_merge::decode_block;
use super::event_tasks::WAIT;
use crate::app::{App, AppError};
use crate::clickhouse::{ClickHouse, ClickHouseError, EventRows};
use crate::store::{self, BlockKey, EventTask, HeldLock, NewEventBlock};
use kurz_core::analytics::block::decode_columns;
use kurz_core::analytics::day_of;
use kurz_core::code::WorkspaceId;

/// Events that are sent at a time.
const BATCH_EVENTS: i64 = 100_000;
const LOCK: &str = "clickhouse";
const LOCK_AT_MOST: Duration = Duration::from_mins(10);
const TASKS: i64 = 20;
const WORKSPACES: i64 = 100;
/// How often rows are removed until they are gone, how long that may take, and how often it is looked at.
const REMOVALS: usize = 3;
const REMOVAL_LIMIT: Duration = Duration::from_mins(1);
const REMOVAL_PAUSE: Duration = Duration::from_millis(50);
/// How long after its end a day still gets events.
const LATE: Duration = Duration::from_mins(10);

#[derive(Debug, Error)]
pub enum CopyError {
    #[error(transparent)]
    ClickHouse(#[from] ClickHouseError),
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    App(#[from] AppError),
}

/// What is to be looked at in ClickHouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCheck {
    /// What was deleted or narrowed.
    Tasks,
    /// That, and all days that are over.
    Days,
}

impl App {
    /// Whether events are copied, and whether that works.
    pub fn clickhouse_works(&self) -> Option<bool> {
        self.parts.clickhouse.as_ref().map(|clickhouse| !clickhouse.is_failing())
    }

    /// Copy the blocks that wait.
    pub async fn copy_waiting_events(&self) -> Result<(), CopyError> {
        let Some(clickhouse) = self.prepared_clickhouse().await? else { return Ok(()) };
        let _copying = self.copies.copying.lock().await;
        loop {
            let (blocks, is_doubtful) = self.copies.first(BATCH_EVENTS);
            if blocks.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.copy_batch(clickhouse, &blocks, is_doubtful).await {
                self.copies.failed();
                return Err(error);
            }
            self.copies.done(&blocks);
        }
    }

    async fn prepared_clickhouse(&self) -> Result<Option<&Arc<ClickHouse>>, CopyError> {
        let clickhouse = self.parts.clickhouse.as_ref();
        if let Some(clickhouse) = clickhouse
            && !clickhouse.is_prepared()
        {
            clickhouse.prepare().await?;
        }
        Ok(clickhouse)
    }

    async fn copy_batch(
        &self,
        clickhouse: &ClickHouse,
        blocks: &[Arc<NewEventBlock>],
        is_doubtful: bool,
    ) -> Result<(), CopyError> {
        let days: BTreeSet<i64> = blocks.iter().map(|block| block.day).collect();
        let days: Vec<i64> = days.into_iter().collect();
        let numbers: Vec<i64> = blocks.iter().map(|block| block.seq).collect();
        let first = numbers.iter().min().copied().unwrap_or(0);
        let last = numbers.iter().max().copied().unwrap_or(0);
        let mut stored = BTreeSet::new();
        for day in &days {
            stored.extend(self.parts.store.list_block_numbers(*day, first..=last).await?);
        }
        let mut copied: HashMap<i64, u64> = HashMap::new();
        if is_doubtful {
            let known = clickhouse.list_copied(&days, &numbers).await?;
            copied.extend(known.into_iter().map(|block| (block.block, block.events)));
        }
        let is_missing = |block: &&Arc<NewEventBlock>| {
            let events = u64::try_from(block.events).unwrap_or(0);
            stored.contains(&block.seq) && copied.get(&block.seq) != Some(&events)
        };
        let missing: Vec<Arc<NewEventBlock>> = blocks.iter().filter(is_missing).cloned().collect();
        let token = format!("kurz-{:016x}", xxh64(format!("{numbers:?}").as_bytes(), 0));
        let rows = super::event_log::blocking(move || {
            let mut rows = EventRows::default();
            for block in missing {
                let columns = block.columns.iter().map(|(column, data)| (*column, data.as_slice()));
                if let Ok(batch) = decode_columns(columns) {
                    rows.add(&block.workspace, block.day, block.seq, &batch);
                }
            }
            rows
        });
        insert(clickhouse, rows.await?, Some(&token)).await
    }

    /// Look after what is in ClickHouse, unless another instance does or did so less than `at_least` ago; whether
    /// it was done.
    pub async fn check_copies(
        &self,
        check: CopyCheck,
        at_least: Duration,
        stop: &CancellationToken,
    ) -> Result<bool, CopyError> {
        let Some(clickhouse) = self.prepared_clickhouse().await? else { return Ok(false) };
        let store = &self.parts.store;
        let instance = self.parts.peers.instance();
        let now = self.parts.clock.now();
        let Some(holding) = store.take_lock(LOCK, instance, LOCK_AT_MOST, now).await? else {
            return Ok(false);
        };
        let look = CopyLook { app: self, clickhouse, holding: &holding, stop };
        let mut done = look.do_tasks().await;
        if done.is_ok() && check == CopyCheck::Days {
            done = look.compare_days().await;
        }
        let now = self.parts.clock.now();
        let released = store.release_lock(&holding, at_least, now).await;
        done?;
        released?;
        Ok(true)
    }

    /// The task that brings the copy of what another task was about up to date.
    pub(super) async fn copying(&self, task: &EventTask) -> Result<EventTask, AppError> {
        Ok(EventTask {
            id: self.parts.store.take_numbers("event_task", 1).await?,
            kind: store::EventTaskKind::Copy,
            requested_at: self.parts.clock.now(),
            ..task.clone()
        })
    }
}

/// One look at what is in ClickHouse.
struct CopyLook<'a> {
    app: &'a App,
    clickhouse: &'a ClickHouse,
    holding: &'a HeldLock,
    stop: &'a CancellationToken,
}

impl CopyLook<'_> {
    /// Repair the days of which something was deleted or narrowed. Like the change itself it waits, so that
    /// nothing from before is still on its way.
    async fn do_tasks(&self) -> Result<(), CopyError> {
        let store = &self.app.parts.store;
        let until = self.app.parts.clock.now().minus(WAIT);
        for task in store.list_copy_tasks(until, TASKS).await? {
            let range = day_of(task.from)..=day_of(task.to);
            let stored = store.list_event_days(&task.workspace, range.clone()).await?;
            let mut days: BTreeSet<i64> = stored.into_iter().map(|day| day.day).collect();
            days.extend(self.clickhouse.list_days_of(&task.workspace).await?);
            for day in days.into_iter().filter(|day| range.contains(day)) {
                if !self.repair_day(&task.workspace, day).await? {
                    return Ok(());
                }
            }
            store.finish_event_task(task.id).await?;
        }
        Ok(())
    }

    /// Find the days that are over and of which ClickHouse has not what the store has, and repair them.
    async fn compare_days(&self) -> Result<(), CopyError> {
        let (store, clickhouse) = (&self.app.parts.store, self.clickhouse);
        self.wait_for_removals().await?;
        let end = day_of(self.app.parts.clock.now().minus(LATE));
        self.drop_old_days(end).await?;
        let mut after = String::new();
        loop {
            let workspaces = store.list_event_workspaces(&after, WORKSPACES).await?;
            let last = workspaces.last().map(|last| last.as_str().to_owned());
            let copied = clickhouse.list_copied_days(&after, last.as_deref(), end).await?;
            let mut copied: HashMap<(String, i64), (u64, bool)> = copied
                .into_iter()
                .map(|day| ((day.workspace, day.day), (day.events, day.has_doubles)))
                .collect();
            let mut differing = Vec::new();
            for workspace in workspaces {
                for day in store.list_event_days(&workspace, 0..=end - 1).await? {
                    let events = u64::try_from(day.events).unwrap_or(0);
                    let copy = copied.remove(&(workspace.to_string(), day.day));
                    if copy != Some((events, false)) {
                        differing.push((workspace.clone(), day.day));
                    }
                }
            }
            let gone = copied.into_keys();
            differing
                .extend(gone.filter_map(|(name, day)| Some((WorkspaceId::parse(&name)?, day))));
            for (workspace, day) in differing {
                if !self.repair_day(&workspace, day).await? {
                    return Ok(());
                }
            }
            let Some(last) = last else { return Ok(()) };
            after = last;
        }
    }

    /// Drop days from before the first one in the store.
    async fn drop_old_days(&self, end: i64) -> Result<(), CopyError> {
        let stored = self.app.parts.store.list_old_days(end, 1).await?;
        let first_stored = stored.first().map_or(end, |(day, _)| *day);
        loop {
            let first = self.clickhouse.first_day().await?;
            if first == 0 || first >= first_stored || self.stop.is_cancelled() {
                return Ok(());
            }
            self.clickhouse.drop_day(first).await?;
        }
    }

    /// Let ClickHouse have the blocks of a day that the store has, and no others; `false` when it is time to
    /// stop.
    async fn repair_day(&self, workspace: &WorkspaceId, day: i64) -> Result<bool, CopyError> {
        let store = &self.app.parts.store;
        let now = self.app.parts.clock.now();
        if self.stop.is_cancelled() || !store.extend_lock(self.holding, LOCK_AT_MOST, now).await? {
            return Ok(false);
        }
        let mut rows = EventRows::default();
        for seq in self.remove_wrong(workspace, day).await? {
            let key = BlockKey { workspace: workspace.clone(), day, seq };
            let columns = store.list_block_columns(&key).await?;
            if let Some(batch) = decode_block(&key, &columns) {
                rows.add(workspace, day, seq, &batch);
            }
            if i64::try_from(rows.events()).unwrap_or(i64::MAX) >= BATCH_EVENTS {
                insert(self.clickhouse, std::mem::take(&mut rows), None).await?;
            }
        }
        insert(self.clickhouse, rows, None).await?;
        Ok(true)
    }

    /// Remove what ClickHouse should not have of a day, until that is so; the blocks that it lacks then.
    async fn remove_wrong(&self, workspace: &WorkspaceId, day: i64) -> Result<Vec<i64>, CopyError> {
        for _ in 0..REMOVALS {
            self.wait_for_removals().await?;
            // In this order: a block that is copied but not stored was removed from the store before.
            let copied = self.clickhouse.list_copied_of(workspace, day).await?;
            let stored = self.app.parts.store.list_blocks(workspace, day).await?;
            let copied = copied.into_iter().map(|block| (block.block, block.events)).collect();
            let stored = stored.into_iter();
            let stored =
                stored.map(|block| (block.seq, u64::try_from(block.events).unwrap_or(0))).collect();
            let wrong = differing(&copied, &stored);
            if wrong.is_empty() {
                return Ok(differing(&stored, &copied));
            }
            self.clickhouse.remove_blocks(workspace, day, &wrong).await?;
        }
        let words = "it does not remove rows that it was told to";
        Err(ClickHouseError::Refused(words.to_owned()).into())
    }

    /// ClickHouse removes rows later than it says so. Version 18.16 forgets some when it is told of the next
    /// removal before it is done with one.
    async fn wait_for_removals(&self) -> Result<(), CopyError> {
        let waiting = async {
            while self.clickhouse.is_removing().await? {
                tokio::time::sleep(REMOVAL_PAUSE).await;
            }
            Ok::<_, ClickHouseError>(())
        };
        let late = |_| Err(ClickHouseError::Away("it takes long to remove rows".to_owned()));
        Ok(timeout(REMOVAL_LIMIT, waiting).await.unwrap_or_else(late)?)
    }
}

/// The blocks that are not in the other list, or with another number of events.
fn differing(from: &BTreeMap<i64, u64>, other: &BTreeMap<i64, u64>) -> Vec<i64> {
    let differ = |(block, events): &(&i64, &u64)| other.get(block) != Some(events);
    from.iter().filter(differ).map(|(block, _)| *block).collect()
}

async fn insert(
    clickhouse: &ClickHouse,
    rows: EventRows,
    token: Option<&str>,
) -> Result<(), CopyError> {
    if rows.is_empty() {
        return Ok(());
    }
    let events = u64::try_from(rows.events()).unwrap_or(0);
    clickhouse.insert(rows.into_bytes(), token).await?;
    metrics::counter!("kurz_clickhouse_events_total").increment(events);
    Ok(())
}
