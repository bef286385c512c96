//! Disabling links, by administrators: one link, or all links of a user. A disabled link answers 410 until
//! it is enabled again.

use crate::app::{Action, App, AppError, AuditDetail, FieldError, Resource, ShownLink};
use crate::store::Subject;
use kurz_core::account::{Caller, UserId};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::withheld::MOST_NOTE;
use kurz_core::link::{Link, Reason};

/// Workspaces of one user that are looked through.
const MOST_WORKSPACES: i64 = 1000;

impl App {
    /// Disable a link, or give another reason for it. `note` is for its owner to read.
    pub async fn disable_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        reason: &str,
        note: Option<&str>,
    ) -> Result<ShownLink, AppError> {
        Self::require_admin(caller)?;
        let reason = read_reason(reason)?;
        let note = read_note(note)?;
        let workspace = self.workspace(workspace).await?;
        let link = self.find_link(&workspace.id, code).await?;
        self.disable(caller, &link, reason, note.as_deref()).await?;
        self.reload_link(&workspace, code).await
    }

    /// The same for a link that was found.
    pub(crate) async fn disable(
        &self,
        caller: &Caller,
        link: &Link,
        reason: Reason,
        note: Option<&str>,
    ) -> Result<(), AppError> {
        // What tells who made it outlives the link.
        let detail = AuditDetail {
            reason: Some(reason.as_str().to_owned()),
            note: note.map(str::to_owned),
            target: Some(link.target.clone()),
            made_at: Some(link.created_at.to_rfc3339()),
            made_from: link.made.client.clone(),
            owner: link.owner.map(|owner| owner.0),
            ..AuditDetail::default()
        };
        let change =
            self.audit_with(caller, Subject::link(link.id), Action::Disabled, detail).await?;
        let disabled = self.parts.store.disable_link(link.id, reason, note, &change).await?;
        self.invalidate(link).await;
        if !disabled {
            return Err(AppError::NotFound(Resource::Link));
        }
        self.settle_reports(link.id).await?;
        Ok(())
    }

    /// Let a disabled link go. Also one that was purged meanwhile: its URL may have its link again.
    pub async fn enable_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<(), AppError> {
        Self::require_admin(caller)?;
        let missing = AppError::NotFound(Resource::Link);
        let Some(code) = Code::parse(code) else { return Err(missing) };
        let link = self.parts.store.find_link(workspace, &code).await?.ok_or(missing)?;
        let subject = Subject::link(link.id);
        let change = self.audit(caller, subject, Action::Enabled).await?;
        let enabled = self.parts.store.enable_link(link.id, &change).await?;
        self.invalidate(&link).await;
        if enabled { Ok(()) } else { Err(AppError::NotDisabled) }
    }

    /// Disable, or let go, all links that somebody made in `main` and in the workspaces they are in.
    pub(crate) async fn set_links_disabled(
        &self,
        caller: &Caller,
        user: UserId,
        disabled: bool,
    ) -> Result<(), AppError> {
        let store = &self.parts.store;
        let mut shelves = vec![format!("main/{user}")];
        let workspaces = store.list_workspaces_of(user, "", MOST_WORKSPACES).await?;
        shelves.extend(workspaces.into_iter().map(|workspace| workspace.id.to_string()));
        let mut count = 0;
        for shelf in shelves {
            loop {
                let now = self.parts.clock.now();
                let touched = store.set_own_disabled(&shelf, user, disabled, now).await?;
                self.invalidate_links(&touched).await;
                if touched.is_empty() {
                    break;
                }
                count += touched.len();
            }
        }
        let action = if disabled { Action::LinksDisabled } else { Action::LinksEnabled };
        let detail = AuditDetail { count: Some(count), ..AuditDetail::default() };
        let change = self.audit_with(caller, Subject::user(user), action, detail).await?;
        Ok(store.insert_audit(&change).await?)
    }
}

/// A reason that an administrator can give.
pub(crate) fn read_reason(text: &str) -> Result<Reason, FieldError> {
    let reason = text.parse().ok().filter(|reason| Reason::CHOICES.contains(reason));
    reason.ok_or_else(|| {
        let detail = "reason is abuse, malware, phishing, legal or other";
        FieldError::new("reason", "reason-invalid", detail)
    })
}

pub(crate) fn read_note(note: Option<&str>) -> Result<Option<String>, FieldError> {
    let note = note.unwrap_or_default().trim();
    if note.chars().count() > MOST_NOTE || note.chars().any(|c| c.is_control() && c != '\n') {
        let detail = format!("note is at most {MOST_NOTE} characters, without control characters");
        return Err(FieldError::new("note", "note-invalid", detail));
    }
    Ok((!note.is_empty()).then(|| note.to_owned()))
}
