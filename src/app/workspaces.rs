//! Workspaces: make, change, remove; and the one that every store has.

use crate::app::list::page_size;
use crate::app::{App, AppError, Change, FieldError, Missing};
use crate::code::WorkspaceId;
use crate::link::{Strategy, limits};
use crate::store::Workspace;

/// The workspace of everybody, whose links are made without naming one.
pub const MAIN: &str = "main";

/// What to change about a workspace.
#[derive(Clone, Debug, Default)]
pub struct WorkspacePatch {
    /// How its links get their codes.
    pub strategy: Option<Strategy>,
    /// Hits a month for each of its links; `None`: what the server says.
    pub hit_limit: Change<Option<i64>>,
}

/// A workspace and the hosts its links answer on.
#[derive(Clone, Debug)]
pub struct ShownWorkspace {
    /// The workspace.
    pub workspace: Workspace,
    /// Its hosts.
    pub hosts: Vec<String>,
}

/// One page of workspaces.
#[derive(Clone, Debug)]
pub struct WorkspacePage {
    /// The workspaces.
    pub workspaces: Vec<ShownWorkspace>,
    /// How to get the next page, if there is one.
    pub next: Option<String>,
}

pub(super) fn main_id() -> WorkspaceId {
    WorkspaceId::parse(MAIN).expect("`main` is a workspace id")
}

impl App {
    /// Read a workspace id, or say what one looks like.
    pub fn workspace_id(text: &str) -> Result<WorkspaceId, AppError> {
        WorkspaceId::parse(text).ok_or_else(|| {
            let detail = "a workspace id is 1 to 64 letters, digits, `_` and `-`";
            FieldError::new("id", "workspace-id-invalid", detail).into()
        })
    }

    /// Make a workspace.
    pub async fn create_workspace(
        &self,
        id: WorkspaceId,
        patch: &WorkspacePatch,
    ) -> Result<ShownWorkspace, AppError> {
        let mut workspace = self.fresh_workspace(id);
        apply(&mut workspace, patch)?;
        if self.parts.store.insert_workspace(&workspace).await? {
            Ok(self.with_hosts(workspace))
        } else {
            Err(AppError::WorkspaceTaken)
        }
    }

    /// A workspace, to look at.
    pub async fn show_workspace(&self, id: &WorkspaceId) -> Result<ShownWorkspace, AppError> {
        Ok(self.with_hosts(self.workspace(id).await?))
    }

    /// A workspace that exists.
    pub(super) async fn workspace(&self, id: &WorkspaceId) -> Result<Workspace, AppError> {
        let found = self.parts.store.find_workspace(id).await?;
        found.ok_or(AppError::NotFound(Missing::Workspace))
    }

    /// A workspace, made if it does not exist: the way of open servers.
    pub(super) async fn ensure_workspace(&self, id: &WorkspaceId) -> Result<Workspace, AppError> {
        if let Some(found) = self.parts.store.find_workspace(id).await? {
            return Ok(found);
        }
        let fresh = self.fresh_workspace(id.clone());
        if self.parts.store.insert_workspace(&fresh).await? {
            return Ok(fresh);
        }
        self.workspace(id).await
    }

    /// A page of workspaces by name. The cursor is the last name of the page before.
    pub async fn list_workspaces(
        &self,
        cursor: Option<&str>,
        limit: Option<i64>,
    ) -> Result<WorkspacePage, AppError> {
        let after = match cursor {
            None => "",
            Some(cursor) => WorkspaceId::parse(cursor).map(|_| cursor).ok_or_else(|| {
                let detail = "cursor is not one that this list gave: leave it out to start over";
                FieldError::new("cursor", "cursor-invalid", detail)
            })?,
        };
        let page = page_size(limit)?;
        let mut workspaces = self.parts.store.list_workspaces(after, page + 1).await?;
        let full = usize::try_from(page).unwrap_or(usize::MAX);
        let more = workspaces.len() > full;
        workspaces.truncate(full);
        let next = workspaces.last().filter(|_| more).map(|last| last.id.to_string());
        let workspaces = workspaces.into_iter().map(|one| self.with_hosts(one)).collect();
        Ok(WorkspacePage { workspaces, next })
    }

    /// Change a workspace.
    pub async fn edit_workspace(
        &self,
        id: &WorkspaceId,
        patch: &WorkspacePatch,
    ) -> Result<ShownWorkspace, AppError> {
        let mut workspace = self.workspace(id).await?;
        let limit_before = workspace.hit_limit;
        apply(&mut workspace, patch)?;
        workspace.updated_at = self.parts.clock.now();
        if !self.parts.store.update_workspace(&workspace).await? {
            return Err(AppError::NotFound(Missing::Workspace));
        }
        if workspace.hit_limit != limit_before {
            // The limit is in every cached link of the workspace; this is rare enough to start
            // over.
            self.parts.links.clear();
        }
        Ok(self.with_hosts(workspace))
    }

    /// Remove a workspace whose links are all deleted. `main` stays.
    pub async fn delete_workspace(&self, id: &WorkspaceId) -> Result<(), AppError> {
        self.workspace(id).await?;
        let now = self.parts.clock.now();
        if id.as_str() == MAIN {
            return Err(AppError::MainStays);
        }
        if !self.parts.store.delete_workspace(id, now).await? {
            return Err(AppError::WorkspaceInUse);
        }
        self.parts.hosts.reload(&self.parts.store).await?;
        Ok(())
    }

    fn with_hosts(&self, workspace: Workspace) -> ShownWorkspace {
        ShownWorkspace { hosts: self.parts.hosts.of_workspace(&workspace.id), workspace }
    }

    pub(super) fn fresh_workspace(&self, id: WorkspaceId) -> Workspace {
        let strategy = if id.as_str() == MAIN { Strategy::Random } else { Strategy::Deterministic };
        let now = self.parts.clock.now();
        Workspace { id, strategy, hit_limit: None, created_at: now, updated_at: now }
    }
}

fn apply(workspace: &mut Workspace, patch: &WorkspacePatch) -> Result<(), AppError> {
    if let Some(strategy) = patch.strategy {
        if strategy == Strategy::Custom {
            let detail = "a workspace makes codes by deterministic, counter or random";
            return Err(FieldError::new("strategy", "strategy-invalid", detail).into());
        }
        workspace.strategy = strategy;
    }
    if let Change::To(limit) = patch.hit_limit {
        workspace.hit_limit = limit
            .map(limits::hit_limit)
            .transpose()
            .map_err(|error| FieldError::new("hit_limit", error.code(), error))?;
    }
    Ok(())
}
