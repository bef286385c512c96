//! Carries out what was asked of events that are there: details are removed, and what narrower modes do not
//! keep. What is left of a click is its number.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event_log::blocking;
use crate::app::{App, AppError};
use crate::clicks::link_info::{AskedLink, LinkInfos};
use crate::store::{BlockKey, DaySumRow, EventTask, EventTaskKind, HeldLock};
use kurz_core::analytics::block::LINK;
use kurz_core::analytics::{
    AnalyticsMode, BatchBuilder, Class, CountedClicks, DaySums, EventBatch, TextColumn, UNKNOWN,
    day_of,
};
use kurz_core::clicks::ClickAnswer;
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Hour, LinkId};

/// How long a task waits, so that no row of the event log from before it is left.
pub(super) const WAIT: Duration = Duration::from_mins(3);
/// How long the sums of purged links stay at most.
const PURGE_EVERY: Duration = Duration::from_hours(24);
const TASKS: i64 = 20;
/// The name under which the store remembers the mode of the server.
const SERVER_MODE: &str = "analytics-mode";
const LOCK_AT_MOST: Duration = Duration::from_mins(10);

impl App {
    /// Carry out the tasks that have waited long enough.
    pub(super) async fn do_event_tasks(
        &self,
        holding: &HeldLock,
        stop: &CancellationToken,
    ) -> Result<(), AppError> {
        let store = &self.parts.store;
        self.note_server_mode().await?;
        let until = self.parts.clock.now().minus(WAIT);
        for task in store.list_event_tasks(until, TASKS).await? {
            if stop.is_cancelled() || !self.do_event_task(holding, &task).await? {
                return Ok(());
            }
            if self.parts.clickhouse.is_some() {
                store.insert_event_task(&self.copying(&task).await?, None).await?;
            }
            store.finish_event_task(task.id).await?;
        }
        Ok(())
    }

    /// After a start with a narrower mode of the server, every workspace has a task.
    async fn note_server_mode(&self) -> Result<(), AppError> {
        let store = &self.parts.store;
        let mode = self.parts.policy.analytics.mode_with(None);
        let now = self.parts.clock.now();
        let before = store.find_secret(SERVER_MODE).await?;
        let before = before.as_deref().and_then(AnalyticsMode::parse);
        if before == Some(mode) {
            return Ok(());
        }
        if before.is_some_and(|before| mode < before) {
            let mut after = String::new();
            loop {
                let workspaces = store.list_event_workspaces(&after, 100).await?;
                let Some(last) = workspaces.last() else { break };
                after = last.to_string();
                for workspace in workspaces {
                    let task = self.narrowing(workspace, None).await?;
                    store.insert_event_task(&task, None).await?;
                }
            }
        }
        store.replace_secret(SERVER_MODE, mode.as_str(), now).await?;
        Ok(())
    }

    /// Do one task on all blocks and sums that it concerns; `false` when the lock was lost.
    async fn do_event_task(&self, holding: &HeldLock, task: &EventTask) -> Result<bool, AppError> {
        let store = &self.parts.store;
        if task.kind == EventTaskKind::Purge {
            return self.remove_purged_sums(holding, task).await;
        }
        let days = day_of(task.from)..=day_of(task.to);
        for day in store.list_event_days(&task.workspace, days.clone()).await? {
            for block in store.list_blocks(&task.workspace, day.day).await? {
                let now = self.parts.clock.now();
                if !store.extend_lock(holding, LOCK_AT_MOST, now).await? {
                    return Ok(false);
                }
                let key =
                    BlockKey { workspace: task.workspace.clone(), day: day.day, seq: block.seq };
                if !self.do_on_block(holding, task, &key).await? {
                    return Ok(false);
                }
            }
        }
        self.do_on_sums(holding, task).await
    }

    async fn do_on_block(
        &self,
        holding: &HeldLock,
        task: &EventTask,
        key: &BlockKey,
    ) -> Result<bool, AppError> {
        let infos = self.modes_in_block(key).await?;
        let (task, BlockKey { workspace, day, seq }) = (task.clone(), key.clone());
        let edit = move |batches: Vec<EventBatch>| {
            let mut builder = BatchBuilder::default();
            for batch in &batches {
                match task.kind {
                    EventTaskKind::Delete => remove_details(&mut builder, batch, &task),
                    EventTaskKind::Narrow => narrow(&mut builder, batch, &infos),
                    // It is about sums.
                    EventTaskKind::Purge => {}
                    EventTaskKind::Copy => builder.add_all(batch),
                }
            }
            builder
        };
        self.rewrite_blocks(holding, &workspace, day, &[seq], edit).await
    }

    /// What is kept now of the links in a block.
    async fn modes_in_block(&self, key: &BlockKey) -> Result<LinkInfos, AppError> {
        let store = &self.parts.store;
        let columns = store.list_block_columns(key).await?;
        let links = columns.into_iter().find(|column| column.column == LINK);
        let decode = move || {
            let links = links.as_ref().map(|column| (LINK, column.data.as_slice()));
            let batch = kurz_core::analytics::block::decode_columns(links);
            batch.map(|batch| AskedLink::each_once(batch.links.into_iter()))
        };
        let links = blocking(decode).await?.unwrap_or_default();
        let now = self.parts.clock.now();
        let (infos, failure) = self.event_links.lock().await.learn(&links, store, now).await;
        failure.map_or(Ok(infos), |error| Err(error.into()))
    }

    /// Have the sums of purged links removed from these workspaces; their events go with their day. All sums of a
    /// workspace are looked through, so that is done once a day.
    pub(in crate::app) async fn forget_sums_of_purged_links(
        &self,
        workspaces: &BTreeSet<String>,
    ) -> Result<(), AppError> {
        let store = &self.parts.store;
        let due = self.parts.clock.now().plus(PURGE_EVERY);
        for workspace in workspaces.iter().filter_map(|id| WorkspaceId::parse(id)) {
            let id = store.take_numbers("event_task", 1).await?;
            store.insert_purge_task(id, &workspace, due).await?;
        }
        Ok(())
    }

    /// Take links that were purged out of the sums of all days; `false` when the lock was lost.
    async fn remove_purged_sums(
        &self,
        holding: &HeldLock,
        task: &EventTask,
    ) -> Result<bool, AppError> {
        let (store, workspace) = (&self.parts.store, &task.workspace);
        let last = day_of(self.parts.clock.now());
        let first = day_of(self.parts.clock.now().minus(self.parts.policy.analytics.sums_keep));
        for day in first..=last {
            let rows = store.list_day_sums(workspace, day..=day).await?;
            let sums = rows.iter().filter_map(|row| {
                DaySums::decode(&row.data).ok().map(|sums| (row.dimension, sums))
            });
            let kept = self.without_purged(day, sums.collect()).await?;
            if kept == rows {
                continue;
            }
            let now = self.parts.clock.now();
            if !store.extend_lock(holding, LOCK_AT_MOST, now).await?
                || !store.replace_sums(holding, workspace, day..=day, kept, now).await?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Take what a task is about out of sums of days.
    async fn do_on_sums(&self, holding: &HeldLock, task: &EventTask) -> Result<bool, AppError> {
        let store = &self.parts.store;
        let keeping = store.find_keeping(&task.workspace).await?;
        let mode = self.parts.policy.analytics.mode_with(keeping.and_then(|it| it.mode));
        let (first, last) = (day_of(task.from), day_of(task.to));
        if task.link.is_none() && (task.kind == EventTaskKind::Delete || mode == AnalyticsMode::Off)
        {
            store.remove_orphans(&task.workspace, first..=last).await?;
        }
        let sums = store.list_day_sums(&task.workspace, first..=last).await?;
        for day in sums.chunk_by(|left, right| left.day == right.day) {
            let at = day.first().map_or(first, |row| row.day);
            let kept: Vec<DaySumRow> =
                day.iter().filter_map(|row| keep_sums(row, task, mode)).collect();
            let now = self.parts.clock.now();
            if kept != day
                && !store.replace_sums(holding, &task.workspace, at..=at, kept, now).await?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What is left of sums: of a deletion for a workspace nothing, of one for a link all other links; of a
/// narrower mode the dimensions that it keeps.
fn keep_sums(row: &DaySumRow, task: &EventTask, mode: AnalyticsMode) -> Option<DaySumRow> {
    let without_link = |link: LinkId| {
        let sums = DaySums::decode(&row.data).ok()?;
        let rest = DaySums::of(sums.rows().filter(|(of, ..)| *of != link));
        Some(DaySumRow { data: rest.encode(), ..*row })
    };
    match (task.kind, task.link) {
        (EventTaskKind::Copy, _) | (EventTaskKind::Purge, None) => Some(row.clone()),
        (EventTaskKind::Delete, None) => None,
        (_, Some(link)) => without_link(link),
        (EventTaskKind::Narrow, None) => {
            let column = TextColumn::from_number(row.dimension)?;
            let is_kept = match mode {
                AnalyticsMode::Off => false,
                AnalyticsMode::Aggregate => column.is_kept_aggregated(),
                AnalyticsMode::Events => true,
            };
            is_kept.then(|| row.clone())
        }
    }
}

fn narrow(builder: &mut BatchBuilder, batch: &EventBatch, infos: &LinkInfos) {
    for mode in AnalyticsMode::ALL {
        let of_mode =
            |event: &usize| batch.links.get(*event).is_some_and(|link| infos.mode(*link) == mode);
        let events: Vec<usize> = (0..batch.len()).filter(of_mode).collect();
        builder.add(batch, &events, mode);
    }
}

/// Keep the number of the clicks that a task is about, by link, hour and class, and all others as they are.
fn remove_details(builder: &mut BatchBuilder, batch: &EventBatch, task: &EventTask) {
    let mut counted: BTreeMap<(LinkId, Hour, &str), u64> = BTreeMap::new();
    let mut others = Vec::new();
    for (event, (link, at)) in batch.links.iter().zip(&batch.times).enumerate() {
        let is_meant = task.link.is_none_or(|meant| meant == *link);
        if !(is_meant && task.from <= *at && *at < task.to) {
            others.push(event);
            continue;
        }
        let answer = batch.text(TextColumn::Answer, event);
        if answer == ClickAnswer::Redirect.name() || answer == UNKNOWN {
            let class = batch.text(TextColumn::Class, event);
            let clicks = batch.counts.get(event).copied().unwrap_or(1);
            *counted.entry((*link, Hour::of(*at), class)).or_default() += u64::from(clicks);
        }
    }
    builder.add(batch, &others, AnalyticsMode::Events);
    for ((link, hour, class), clicks) in counted {
        let class = Class::ALL.into_iter().find(|one| one.name() == class);
        let class = class.unwrap_or(Class::Person);
        builder.add_counted(CountedClicks { link, at: hour.start(), class, clicks, nanos: 0 });
    }
}
