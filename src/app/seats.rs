//! Workspaces as they were last entered, and the roles that their members had. A role is good for a
//! second, as everything about a person is; a workspace until it changes.
//!
//! Invariant: what was read before a workspace was told to be forgotten is not kept after it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quick_cache::sync::Cache;
use tokio::time::Instant;

use crate::store::Workspace;
use kurz_core::account::{Role, UserId};
use kurz_core::code::WorkspaceId;

/// How long a role is believed.
const FRESH: Duration = Duration::from_secs(1);
/// Most workspaces and most roles in memory.
const MOST: usize = 10_000;

#[derive(Debug)]
pub(super) struct Seats {
    workspaces: Cache<WorkspaceId, Workspace>,
    roles: Cache<(WorkspaceId, UserId), (Instant, Role)>,
    /// How often anything was forgotten. Held by whoever keeps or forgets: both are rare.
    forgotten: Mutex<u64>,
}

impl Default for Seats {
    fn default() -> Self {
        let (workspaces, roles) = (Cache::new(MOST), Cache::new(MOST));
        Self { workspaces, roles, forgotten: Mutex::default() }
    }
}

impl Seats {
    /// Now: to be taken before the store is read.
    pub(super) fn moment(&self) -> u64 {
        *self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn workspace(&self, id: &WorkspaceId) -> Option<Workspace> {
        self.workspaces.get(id)
    }

    /// The role of a member, if it was read within the last second.
    pub(super) fn role(&self, id: &WorkspaceId, user: UserId) -> Option<Role> {
        let (read, role) = self.roles.get(&(id.clone(), user))?;
        (read.elapsed() < FRESH).then_some(role)
    }

    pub(super) fn keep_workspace(&self, moment: u64, workspace: &Workspace) {
        if self.workspaces.peek(&workspace.id).as_ref() != Some(workspace) {
            self.unless_forgotten(moment, || {
                self.workspaces.insert(workspace.id.clone(), workspace.clone());
            });
        }
    }

    pub(super) fn keep_role(&self, moment: u64, id: &WorkspaceId, user: UserId, role: Role) {
        self.unless_forgotten(moment, || {
            self.roles.insert((id.clone(), user), (Instant::now(), role));
        });
    }

    /// Drop what is known about a workspace and its members: it changed.
    pub(super) fn forget(&self, id: &WorkspaceId) {
        let mut forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        *forgotten += 1;
        self.workspaces.remove(id);
        self.roles.retain(|(workspace, _), _| workspace != id);
    }

    /// Drop everything: anything may have changed.
    pub(super) fn clear(&self) {
        let mut forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        *forgotten += 1;
        self.workspaces.clear();
        self.roles.clear();
    }

    fn unless_forgotten(&self, moment: u64, keep: impl FnOnce()) {
        let forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        if *forgotten == moment {
            keep();
        }
    }
}
