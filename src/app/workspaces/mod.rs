//! Workspaces: make, change, remove; and the one that every store has.

mod host_proof;
mod hosts;
pub(crate) mod invitations;
mod link_defaults;
pub(crate) mod members;
pub(crate) mod membership_cache;

use crate::app::page::{page_size, read_cursor};
use crate::app::{Action, App, AppError, AuditDetail, Change, FieldError, Page, Resource};
use crate::store::{Subject, Workspace, WorkspaceAdded};
use kurz_core::account::{Act, Caller, Reach, Role, Scope, access};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Strategy, fields};

pub use hosts::{HostInstructions, HostPatch, ShownHost};

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

/// What somebody may do in a workspace beside looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    pub create: bool,
    pub manage_links: bool,
    pub manage: bool,
}

/// A workspace and the hosts its links answer on.
#[derive(Clone, Debug)]
pub struct ShownWorkspace {
    pub workspace: Workspace,
    pub hosts: Vec<String>,
}

/// A workspace that a caller may make links in.
#[derive(Debug)]
pub(crate) struct EnteredWorkspace {
    pub(crate) workspace: Workspace,
    /// Whether it is stored, or comes into being with its first link.
    pub(crate) exists: bool,
    /// How far the caller may go there.
    pub(crate) reach: Reach,
}

pub(crate) fn main_id() -> WorkspaceId {
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

    /// Go into a workspace to do `act`: the workspace, and how far the caller may go there.
    pub(crate) async fn enter(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        act: Act,
    ) -> Result<(Workspace, Reach), AppError> {
        let reach = self.reach(caller, id, act).await?;
        Ok((self.workspace(id).await?, reach))
    }

    /// Go into a workspace to make links. On an open server one that does not exist comes into
    /// being with its first link, and not before.
    pub(crate) async fn enter_to_create(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<EnteredWorkspace, AppError> {
        let reach = self.reach(caller, id, Act::CreateLinks).await?;
        let generation = self.memberships.workspaces.generation();
        match self.parts.store.find_workspace(id).await? {
            Some(workspace) => {
                self.memberships.keep_workspace(generation, &workspace);
                Ok(EnteredWorkspace { workspace, exists: true, reach })
            }
            None if self.parts.policy.open => Ok(EnteredWorkspace {
                workspace: self.fresh_workspace(id.clone()),
                exists: false,
                reach,
            }),
            None => Err(AppError::NotFound(Resource::Workspace)),
        }
    }

    /// How far the caller may go in a workspace, whether it exists or not.
    async fn reach(&self, caller: &Caller, id: &WorkspaceId, act: Act) -> Result<Reach, AppError> {
        let role = self.role(caller, id, false).await?;
        let place = access::WorkspaceRole { workspace: id, is_main: id.as_str() == MAIN, role };
        Ok(access::in_workspace(caller, &place, act)?)
    }

    /// The role of the caller in a workspace; where `lately` will do, the one of a moment ago.
    pub(crate) async fn role(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        lately: bool,
    ) -> Result<Option<Role>, AppError> {
        let Some(identity) = caller.identity().filter(|_| id.as_str() != MAIN) else {
            return Ok(None);
        };
        let known = self.memberships.role(id, identity.id).filter(|_| lately);
        if known.is_some() {
            return Ok(known);
        }
        let generation = self.memberships.roles.generation();
        let role = self.parts.store.find_role(id, identity.id).await?;
        if let Some(role) = role {
            self.memberships.roles.insert(generation, (id.clone(), identity.id), role);
        }
        Ok(role)
    }

    /// What the caller may do in a workspace that they may look at.
    pub async fn rights(&self, caller: &Caller, id: &WorkspaceId) -> Result<Rights, AppError> {
        let role = self.role(caller, id, false).await?;
        let place = access::WorkspaceRole { workspace: id, is_main: id.as_str() == MAIN, role };
        access::in_workspace(caller, &place, Act::ReadLinks)?;
        let may = |act| access::in_workspace(caller, &place, act).is_ok();
        Ok(Rights {
            create: may(Act::CreateLinks),
            manage_links: may(Act::ManageLinks),
            manage: may(Act::Manage),
        })
    }

    /// Make a workspace. Who makes it administers it. An account makes only so many; those who
    /// administer the server make any number.
    pub async fn create_workspace(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        patch: &WorkspacePatch,
    ) -> Result<ShownWorkspace, AppError> {
        access::to_new_workspace(caller)?;
        let mut workspace = self.fresh_workspace(id);
        apply(&mut workspace, patch)?;
        let store = &self.parts.store;
        let subject = Subject::workspace(&workspace.id);
        let change = self.audit(caller, subject, Action::Created).await?;
        let is_admin = caller.identity().is_some_and(|identity| identity.is_admin);
        let limit = self.parts.policy.workspace_limit.filter(|_| !is_admin);
        match store.insert_workspace_of(&workspace, caller.owner(), limit, &change).await? {
            WorkspaceAdded::Done => Ok(self.with_hosts(workspace)),
            WorkspaceAdded::Taken if store.is_workspace_deleted(&workspace.id).await? => {
                Err(AppError::WorkspaceDeleted(workspace.id))
            }
            WorkspaceAdded::Taken => Err(AppError::WorkspaceTaken),
            WorkspaceAdded::TooMany => {
                Err(AppError::WorkspaceLimit { limit: limit.unwrap_or_default() })
            }
        }
    }

    pub async fn show_workspace(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<ShownWorkspace, AppError> {
        let (workspace, _) = self.enter(caller, id, Act::Look).await?;
        Ok(self.with_hosts(workspace))
    }

    pub(crate) async fn workspace(&self, id: &WorkspaceId) -> Result<Workspace, AppError> {
        let found = self.parts.store.find_workspace(id).await?;
        found.ok_or(AppError::NotFound(Resource::Workspace))
    }

    /// A workspace, made if it does not exist: the way of open servers.
    pub(crate) async fn ensure_workspace(&self, id: &WorkspaceId) -> Result<Workspace, AppError> {
        if let Some(found) = self.parts.store.find_workspace(id).await? {
            return Ok(found);
        }
        let fresh = self.fresh_workspace(id.clone());
        if self.parts.store.insert_workspace(&fresh).await? {
            return Ok(fresh);
        }
        self.workspace(id).await
    }

    /// A page of the workspaces that the caller is in, or all for who may see all, by name. The
    /// cursor is the last name of the page before.
    pub async fn list_workspaces(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        limit: Option<i64>,
    ) -> Result<Page<ShownWorkspace>, AppError> {
        // Authorization comes before validation.
        if !caller.is_open() {
            access::to_account(caller, Scope::Read)?;
        }
        let after = read_cursor(cursor, WorkspaceId::parse)?;
        let after = after.as_ref().map_or("", WorkspaceId::as_str);
        let size = page_size(limit)?;
        let workspaces = self.visible_workspaces(caller, after, size + 1).await?;
        let page = Page::cut(workspaces, size, |last| last.id.to_string());
        Ok(page.map(|one| self.with_hosts(one)))
    }

    async fn visible_workspaces(
        &self,
        caller: &Caller,
        after: &str,
        most: i64,
    ) -> Result<Vec<Workspace>, AppError> {
        let store = &self.parts.store;
        if caller.is_open() {
            return Ok(store.list_workspaces(after, most).await?);
        }
        let identity = access::to_account(caller, Scope::Read)?;
        if let Some(only) = &identity.only_workspace {
            let (workspace, _) = self.enter(caller, only, Act::Look).await?;
            return Ok(if only.as_str() > after { vec![workspace] } else { Vec::new() });
        }
        Ok(if identity.is_admin {
            store.list_workspaces(after, most).await?
        } else {
            store.list_workspaces_of(identity.id, after, most).await?
        })
    }

    pub async fn edit_workspace(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        patch: &WorkspacePatch,
    ) -> Result<ShownWorkspace, AppError> {
        let (mut workspace, _) = self.enter(caller, id, Act::Manage).await?;
        let limit_before = workspace.hit_limit;
        apply(&mut workspace, patch)?;
        workspace.updated_at = self.parts.clock.now();
        let mut fields = Vec::new();
        if patch.strategy.is_some() {
            fields.push("strategy".to_owned());
        }
        if workspace.hit_limit != limit_before {
            fields.push("hit_limit".to_owned());
        }
        let detail = AuditDetail { fields, ..AuditDetail::default() };
        let change =
            self.audit_with(caller, Subject::workspace(id), Action::Edited, detail).await?;
        if !self.parts.store.update_workspace(&workspace, &change).await? {
            return Err(AppError::NotFound(Resource::Workspace));
        }
        self.invalidate_workspace(id);
        if workspace.hit_limit != limit_before {
            // The limit is in every cached link of the workspace; this is rare enough to start
            // over.
            self.invalidate_all_links();
        }
        Ok(self.with_hosts(workspace))
    }

    /// Remove a workspace whose links are all deleted. `main` stays.
    pub async fn delete_workspace(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<(), AppError> {
        self.enter(caller, id, Act::Manage).await?;
        let now = self.parts.clock.now();
        if id.as_str() == MAIN {
            return Err(AppError::MainStays);
        }
        let change = self.audit(caller, Subject::workspace(id), Action::Deleted).await?;
        if !self.parts.store.delete_workspace(id, now, &change).await? {
            return Err(AppError::WorkspaceInUse);
        }
        self.invalidate_workspace(id);
        self.hosts_changed().await?;
        Ok(())
    }

    /// Bring a deleted workspace back: for administrators of the server, who may add members again. Its
    /// codes are as they were.
    pub async fn restore_workspace(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<ShownWorkspace, AppError> {
        Self::require_admin(caller)?;
        let now = self.parts.clock.now();
        let change = self.audit(caller, Subject::workspace(id), Action::Restored).await?;
        if !self.parts.store.restore_workspace(id, now, &change).await? {
            let exists = self.parts.store.find_workspace(id).await?.is_some();
            let missing = AppError::NotFound(Resource::Workspace);
            return Err(if exists { AppError::WorkspaceTaken } else { missing });
        }
        self.invalidate_workspace(id);
        Ok(self.with_hosts(self.workspace(id).await?))
    }

    fn with_hosts(&self, workspace: Workspace) -> ShownWorkspace {
        ShownWorkspace { hosts: self.parts.hosts.of_workspace(&workspace.id), workspace }
    }

    pub(crate) fn fresh_workspace(&self, id: WorkspaceId) -> Workspace {
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
            .map(fields::hit_limit)
            .transpose()
            .map_err(|error| FieldError::new("hit_limit", error.code(), error))?;
    }
    Ok(())
}
