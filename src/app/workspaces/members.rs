//! Members of workspaces and their roles. One becomes a member by an invitation.

use crate::app::page::{page_size, read_cursor};
use crate::app::{Action, App, AppError, AuditDetail, Page, Resource};
use crate::store::{Member, MemberChange, NewAuditEntry, Subject};
use kurz_core::account::{Act, Caller, Email, Role, UserId};
use kurz_core::code::WorkspaceId;

impl App {
    /// A page of members, in the order they registered. The cursor is the last one's number.
    pub async fn list_members(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        cursor: Option<&str>,
        limit: Option<i64>,
    ) -> Result<Page<Member>, AppError> {
        let (workspace, _) = self.enter(caller, workspace, Act::Look).await?;
        let after = read_cursor(cursor, |text| text.parse().ok())?.unwrap_or(0);
        let size = page_size(limit)?;
        let store = &self.parts.store;
        let members = store.list_members(&workspace.id, UserId(after), size + 1).await?;
        Ok(Page::cut(members, size, |last| last.user.to_string()))
    }

    pub async fn change_role(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        email: &str,
        role: Role,
    ) -> Result<Member, AppError> {
        let (workspace, _) = self.enter(caller, workspace, Act::Manage).await?;
        let email = Email::parse(email).map_err(|_| AppError::NotFound(Resource::Member))?;
        let member = self.member(&workspace.id, &email).await?;
        let change = self
            .audit_member(caller, &workspace.id, &email, Action::RoleChanged, Some(role))
            .await?;
        let changed = self.parts.store.set_role(&workspace.id, member.user, role, &change).await?;
        expect_changed(changed, &workspace.id)?;
        self.invalidate_workspace(&workspace.id);
        self.member(&workspace.id, &email).await
    }

    /// Put a member out. Everybody may leave by themselves.
    pub async fn remove_member(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        email: &str,
    ) -> Result<(), AppError> {
        let email = Email::parse(email);
        let leaves = match (&email, caller.identity()) {
            (Ok(email), Some(identity)) => *email == identity.email,
            _ => false,
        };
        let act = if leaves { Act::Look } else { Act::Manage };
        let (workspace, _) = self.enter(caller, workspace, act).await?;
        let email = email.map_err(|_| AppError::NotFound(Resource::Member))?;
        let member = self.member(&workspace.id, &email).await?;
        let change =
            self.audit_member(caller, &workspace.id, &email, Action::Removed, None).await?;
        let removed = self.parts.store.delete_member(&workspace.id, member.user, &change).await?;
        expect_changed(removed, &workspace.id)?;
        self.invalidate_workspace(&workspace.id);
        Ok(())
    }

    pub(super) async fn audit_member(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        email: &Email,
        action: Action,
        role: Option<Role>,
    ) -> Result<NewAuditEntry, AppError> {
        let role = role.map(|role| role.as_str().to_owned());
        let detail = AuditDetail { role, ..AuditDetail::default() };
        self.audit_with(caller, Subject::member(workspace, email), action, detail).await
    }

    pub(super) async fn member(
        &self,
        workspace: &WorkspaceId,
        email: &Email,
    ) -> Result<Member, AppError> {
        let found = self.parts.store.find_member(workspace, email).await?;
        found.ok_or(AppError::NotFound(Resource::Member))
    }
}

fn expect_changed(change: MemberChange, workspace: &WorkspaceId) -> Result<(), AppError> {
    match change {
        MemberChange::Done => Ok(()),
        MemberChange::Gone => Err(AppError::NotFound(Resource::Member)),
        MemberChange::LastAdmin => Err(AppError::LastAdmin { workspaces: vec![workspace.clone()] }),
    }
}
