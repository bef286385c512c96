//! Misses on the hosts of workspaces, until they are written: a bounded table that requests for unknown
//! addresses add to. No redirect comes here.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kurz_core::analytics::day_of;
use kurz_core::analytics::orphans::Orphans;
use kurz_core::code::WorkspaceId;
use kurz_core::time::Timestamp;

/// The most days and workspaces that wait. Misses of more are not kept: the store has been away for long.
const MOST_WAITING: usize = 1_000;

/// Orphans that are not written yet, by workspace and UTC day.
pub(crate) type WaitingOrphans = BTreeMap<(WorkspaceId, i64), Orphans>;

#[derive(Debug, Default)]
pub(crate) struct OrphanMisses(Mutex<WaitingOrphans>);

impl OrphanMisses {
    /// Count a miss of `path` on a workspace's host.
    #[cold]
    pub(crate) fn add(&self, workspace: WorkspaceId, host: &str, path: &str, at: Timestamp) {
        self.with(|waiting| {
            if let Some(orphans) = room(waiting, (workspace, day_of(at))) {
                orphans.add(host, path, 1);
            }
        });
    }

    /// Take everything that waits.
    pub(crate) fn take(&self) -> WaitingOrphans {
        self.with(std::mem::take)
    }

    /// Put back what could not be written.
    pub(crate) fn put_back(&self, key: (WorkspaceId, i64), failed: &Orphans) {
        self.with(|waiting| {
            if let Some(orphans) = room(waiting, key) {
                orphans.merge(failed);
            }
        });
    }

    fn with<T>(&self, change: impl FnOnce(&mut WaitingOrphans) -> T) -> T {
        // Every operation leaves the table consistent.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn room(waiting: &mut WaitingOrphans, key: (WorkspaceId, i64)) -> Option<&mut Orphans> {
    let has_room = waiting.len() < MOST_WAITING || waiting.contains_key(&key);
    has_room.then(|| waiting.entry(key).or_default())
}
