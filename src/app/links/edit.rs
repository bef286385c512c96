//! Changing links: edit, delete, restore.

use crate::app::links::draft::kept_target;
use crate::app::{Action, App, AppError, AuditDetail, FieldError, MAIN, Resource, ShownLink};
use crate::store::{LinkEdit, Restored, Subject};
use kurz_core::account::{Act, Caller, access};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{Link, LinkFieldChanges, Status, Strategy};
use kurz_core::time::Timestamp;

/// How often an edit is made again on a link that somebody else changed meanwhile.
const TRIES: u32 = 5;

/// What to change about a link.
#[derive(Clone, Debug, Default)]
pub struct LinkPatch {
    pub original_url: Option<String>,
    pub fields: LinkFieldChanges,
}

impl App {
    /// Change a link. Its code stays.
    pub async fn edit_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        patch: &LinkPatch,
    ) -> Result<ShownLink, AppError> {
        for _ in 0..TRIES {
            let (workspace, link) =
                self.reach_link(caller, workspace, code, Act::ManageLinks).await?;
            let now = self.parts.clock.now();
            if link.status(now) == Some(Status::Deleted) {
                return Err(AppError::NotFound(Resource::Link));
            }
            // Its owner could lead it elsewhere, and have its URL again under another code.
            if link.disabled.is_some() && Self::require_admin(caller).is_err() {
                return Err(AppError::LinkLocked);
            }
            let edit = self.apply(&link, patch, now)?;
            let detail = edited(&link, &edit);
            let is_retargeted = detail.old_target.is_some();
            let change =
                self.audit_with(caller, Subject::link(link.id), Action::Edited, detail).await?;
            if self.parts.store.edit_link(&link, &edit, now, &change).await? {
                self.invalidate(&link);
                if is_retargeted {
                    self.retarget_alarm.retargeted(caller);
                }
                return self.reload_link(&workspace, code).await;
            }
        }
        Err(AppError::ChangedMeanwhile)
    }

    /// Delete a link. It is gone from lists and redirects at once, and can be restored for some time.
    pub async fn delete_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<ShownLink, AppError> {
        let (workspace, link) = self.reach_link(caller, workspace, code, Act::ManageLinks).await?;
        let change = self.audit(caller, Subject::link(link.id), Action::Deleted).await?;
        let now = self.parts.clock.now();
        let deleted = self.parts.store.delete_link(link.id, now, &change).await?;
        self.invalidate(&link);
        if !deleted {
            return Err(AppError::NotFound(Resource::Link));
        }
        let deleted = Link { deleted_at: Some(now), updated_at: now, ..link };
        let shown = self.show(&workspace, vec![deleted]).pop();
        shown.ok_or(AppError::NotFound(Resource::Link))
    }

    pub async fn restore_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<ShownLink, AppError> {
        let found = self.reach_link(caller, workspace, code, Act::ManageLinks).await;
        let (workspace, link) = match found {
            Err(AppError::NotFound(Resource::Link)) => {
                return Err(self.purged(caller, workspace, code).await?);
            }
            found => found?,
        };
        let change = self.audit(caller, Subject::link(link.id), Action::Restored).await?;
        let now = self.parts.clock.now();
        // In a team's workspace links are the team's, whoever made them.
        let owner = link.owner.filter(|_| workspace.id.as_str() == MAIN);
        let restored = self.parts.store.restore_link(&link, owner, now, &change).await?;
        self.invalidate(&link);
        match restored {
            Restored::Done => {}
            Restored::NotDeleted => return Err(AppError::NotDeleted),
            Restored::Gone => {
                self.workspace(&workspace.id).await?;
                return Err(AppError::OwnerDeleted);
            }
        }
        self.reload_link(&workspace, code).await
    }

    /// Why a link that is not there cannot be restored: it was purged, if it was and the caller may know, or
    /// there is none.
    async fn purged(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<AppError, AppError> {
        let missing = AppError::NotFound(Resource::Link);
        let Some(code) = Code::parse(code) else { return Ok(missing) };
        let (_, reach) = self.enter(caller, workspace, Act::ManageLinks).await?;
        let link = self.parts.store.find_link(workspace, &code).await?;
        let tombstone = link.and_then(|link| link.purged_at.map(|at| (at, link.owner)));
        Ok(match tombstone {
            Some((at, owner)) if access::to_link(reach, owner).is_ok() => AppError::Purged { at },
            _ => missing,
        })
    }

    /// What the link is to be.
    fn apply(&self, link: &Link, patch: &LinkPatch, now: Timestamp) -> Result<LinkEdit, AppError> {
        let mut edit = LinkEdit {
            strategy: link.strategy,
            target: link.target.clone(),
            canonical_hash: link.canonical_hash,
            fields: link.fields.clone(),
        };
        let mut errors = Vec::new();
        if let Some(url) = &patch.original_url {
            errors.extend(self.retarget(&mut edit, url).err());
        }
        errors.extend(edit.fields.apply(&patch.fields, now).into_iter().map(FieldError::from));
        if errors.is_empty() { Ok(edit) } else { Err(AppError::Invalid(errors)) }
    }

    fn retarget(&self, edit: &mut LinkEdit, url: &str) -> Result<(), FieldError> {
        let canonical = self.check_target(url)?;
        let hash = canonical.sha256();
        if hash != edit.canonical_hash && self.parts.policy.fixed_targets {
            let detail = "links of this server keep their targets: make another link";
            return Err(FieldError::new("original_url", "target-fixed", detail));
        }
        if hash != edit.canonical_hash && edit.strategy == Strategy::Deterministic {
            // The code no longer follows from the URL: from here on it is a code like one that
            // was chosen, and the old URL is free to get a link again.
            edit.strategy = Strategy::Custom;
        }
        edit.canonical_hash = hash;
        edit.target = kept_target(url);
        Ok(())
    }
}

/// What an edit changes, field by field.
fn edited(link: &Link, edit: &LinkEdit) -> AuditDetail {
    let target = (link.target != edit.target).then_some("original_url");
    let fields = target.into_iter().chain(link.fields.differing(&edit.fields));
    let fields = fields.map(str::to_owned).collect();
    let old_target = (link.target != edit.target).then(|| link.target.clone());
    AuditDetail { fields, old_target, ..AuditDetail::default() }
}
