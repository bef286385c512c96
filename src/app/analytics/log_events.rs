//! Events that are in the log and not yet in a block: those of the last minute, of all workspaces.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::app::{App, AppError};
use kurz_core::analytics::scan::BlockColumns;
use kurz_core::analytics::scan_plan::LinkSet;
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;

const DAY_MS: i64 = 86_400_000;
/// Links whose workspace is looked up at a time.
const LINKS_AT_ONCE: usize = 90;

/// The rows of the log at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLogSnapshot {
    rows: Vec<LoggedRow>,
    workspaces: HashMap<LinkId, WorkspaceId>,
}

#[derive(Clone, Debug)]
struct LoggedRow {
    key: (i64, i64),
    data: Arc<[u8]>,
    links: Vec<LinkId>,
    /// The first and the last day of its events.
    days: (i64, i64),
}

impl EventLogSnapshot {
    /// The rows with events of a workspace that may be of this day, and which of their links are its own.
    pub(super) fn of_day(&self, workspace: &WorkspaceId, day: i64) -> Vec<(Arc<[u8]>, LinkSet)> {
        let rows = self.rows.iter().filter(|row| row.days.0 <= day && day <= row.days.1);
        rows.filter_map(|row| {
            let links = self.links_of(row, workspace);
            (!links.is_empty()).then(|| (Arc::clone(&row.data), LinkSet::new(links, false)))
        })
        .collect()
    }

    fn links_of(&self, row: &LoggedRow, workspace: &WorkspaceId) -> Vec<LinkId> {
        let is_own = |link: &&LinkId| self.workspaces.get(link) == Some(workspace);
        row.links.iter().filter(is_own).copied().collect()
    }

    /// The days on which a workspace may have events in the log.
    pub(super) fn days(&self, workspace: &WorkspaceId) -> BTreeSet<i64> {
        let rows = self.rows.iter().filter(|row| !self.links_of(row, workspace).is_empty());
        rows.flat_map(|row| row.days.0..=row.days.1).collect()
    }
}

impl App {
    /// What is in the log now.
    pub(super) async fn read_event_log(&self) -> Result<EventLogSnapshot, AppError> {
        let mut logged = EventLogSnapshot::default();
        for row in self.parts.store.list_event_log().await? {
            let columns = BlockColumns::row(&row.data);
            let read = columns.and_then(|columns| Ok((columns.links()?, columns.times()?)));
            let (links, times) = match read {
                Ok((links, Some(times))) => (links, times),
                Ok((_, None)) => continue,
                Err(error) => {
                    tracing::warn!(%error, writer = row.writer, "a row of the event log cannot be read");
                    continue;
                }
            };
            let days = (times.0.div_euclid(DAY_MS), times.1.div_euclid(DAY_MS));
            let key = (row.writer, row.seq);
            logged.rows.push(LoggedRow { key, data: row.data.into(), links, days });
        }
        let links = logged.rows.iter().flat_map(|row| &row.links).copied().collect();
        logged.workspaces = self.workspaces_of(links).await?;
        Ok(logged)
    }

    /// Whether all these rows are still in the log: one that is not may have been counted in its block as
    /// well.
    pub(super) async fn is_still_logged(
        &self,
        logged: &EventLogSnapshot,
    ) -> Result<bool, AppError> {
        if logged.rows.is_empty() {
            return Ok(true);
        }
        let keys: HashSet<(i64, i64)> =
            self.parts.store.list_event_log_keys().await?.into_iter().collect();
        Ok(logged.rows.iter().all(|row| keys.contains(&row.key)))
    }

    /// The workspaces of links that exist.
    pub(super) async fn workspaces_of(
        &self,
        links: Vec<LinkId>,
    ) -> Result<HashMap<LinkId, WorkspaceId>, AppError> {
        let remembered = &self.analytics.workspaces;
        let mut found = HashMap::new();
        let mut unknown = Vec::new();
        let links: BTreeSet<LinkId> = links.into_iter().collect();
        for link in links {
            match remembered.get(&link) {
                Some(workspace) => found.extend(workspace.map(|workspace| (link, workspace))),
                None => unknown.push(link),
            }
        }
        for part in unknown.chunks(LINKS_AT_ONCE) {
            let modes = self.parts.store.list_link_modes(part).await?;
            let known: HashMap<LinkId, WorkspaceId> =
                modes.into_iter().map(|mode| (mode.link, mode.workspace)).collect();
            for link in part {
                remembered.insert(*link, known.get(link).cloned());
            }
            found.extend(known);
        }
        Ok(found)
    }
}
