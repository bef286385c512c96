//! Workspaces as they were last read, and the roles of their members. A workspace is kept until it
//! changes; a role is believed for a second, like everything about an account.

use std::time::Duration;

use crate::cache::{Generation, GenerationCache};
use crate::store::Workspace;
use kurz_core::account::{Role, UserId};
use kurz_core::code::WorkspaceId;

/// How long a role is believed.
const FRESH: Duration = Duration::from_secs(1);
/// Most workspaces and most roles in memory.
const MOST: usize = 10_000;

#[derive(Debug)]
pub(crate) struct MembershipCache {
    pub(crate) workspaces: GenerationCache<WorkspaceId, Workspace>,
    pub(crate) roles: GenerationCache<(WorkspaceId, UserId), Role>,
}

impl Default for MembershipCache {
    fn default() -> Self {
        Self { workspaces: GenerationCache::new(MOST), roles: GenerationCache::new(MOST) }
    }
}

impl MembershipCache {
    pub(crate) fn workspace(&self, id: &WorkspaceId) -> Option<Workspace> {
        self.workspaces.get(id).map(|found| found.value)
    }

    pub(crate) fn keep_workspace(&self, generation: Generation, workspace: &Workspace) {
        // Most reads find what is here already.
        if self.workspace(&workspace.id).as_ref() != Some(workspace) {
            self.workspaces.insert(generation, workspace.id.clone(), workspace.clone());
        }
    }

    /// The role of a member, if it was read within the last second.
    pub(crate) fn role(&self, id: &WorkspaceId, user: UserId) -> Option<Role> {
        let found = self.roles.get(&(id.clone(), user))?;
        (found.age() < FRESH).then_some(found.value)
    }

    /// Drop what is known about a workspace and its members: it changed.
    pub(crate) fn invalidate(&self, id: &WorkspaceId) {
        self.workspaces.invalidate(id);
        self.roles.invalidate_where(|(workspace, _), _| workspace == id);
    }

    pub(crate) fn clear(&self) {
        self.workspaces.clear();
        self.roles.clear();
    }
}
