//! Changing links: edit, delete, restore.

use std::borrow::Cow;

use crate::app::links::draft::kept_target;
use crate::app::links::plan::{changed_plan_fields, has_new_urls};
use crate::app::{Action, App, AppError, AuditDetail, FieldError, MAIN, Resource, ShownLink};
use crate::store::{EditOutcome, LinkEdit, Restored, Subject};
use kurz_core::account::{Act, Caller, access};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::{Link, LinkFieldChanges, Status, Strategy};
use kurz_core::plan::PlanChanges;
use kurz_core::time::Timestamp;

/// How often an edit is made again on a link that somebody else changed meanwhile.
pub(super) const TRIES: u32 = 5;

/// What to change about a link.
#[derive(Clone, Debug, Default)]
pub struct LinkPatch {
    pub original_url: Option<String>,
    /// Another code; the one that it has becomes an alias.
    pub short_code: Option<String>,
    pub fields: LinkFieldChanges,
    /// The fields of its plan.
    pub plan: PlanChanges,
}

impl App {
    /// Change a link. Its code stays, unless another is asked for.
    pub async fn edit_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        patch: &LinkPatch,
    ) -> Result<ShownLink, AppError> {
        // Another code is taken for good, as that of a new link is.
        let admitted =
            patch.short_code.as_ref().map(|_| self.admit_links(caller, 1)).transpose()?;
        let edited = self.try_edit(caller, workspace, code, patch).await;
        if let Some(admitted) = admitted {
            let is_new = matches!(&edited, Ok(shown) if shown.link.code.as_str() != code);
            admitted.settle_count(1, usize::from(is_new));
        }
        edited
    }

    async fn try_edit(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        patch: &LinkPatch,
    ) -> Result<ShownLink, AppError> {
        let mut wants_main = self.parts.hosts.of_workspace(workspace).is_empty();
        let mut hashed: Option<Cow<'_, PlanChanges>> = None;
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
            let plan = match hashed.take() {
                Some(plan) => plan,
                None => self.hash_password(&patch.plan).await?,
            };
            let mut edit = self.apply(&link, patch, &plan, now)?;
            hashed = Some(plan);
            if link.plan != edit.plan {
                self.check_visitor_rules(&workspace.id, edit.plan.as_ref()).await?;
            }
            if let Some(new) = patch.short_code.as_deref().filter(|new| *new != link.code.as_str())
            {
                let alias = self.new_alias(caller, &link, ("short_code", new), wants_main).await?;
                edit.code = Some(alias);
                // The code no longer follows from anything but a choice.
                edit.strategy = Strategy::Custom;
            }
            let detail = edited(&link, &edit);
            let is_retargeted = detail.old_target.is_some() || has_new_urls(&link, &edit);
            let change =
                self.audit_with(caller, Subject::link(link.id), Action::Edited, detail).await?;
            match (self.parts.store.edit_link(&link, &edit, now, &change).await?, &edit.code) {
                (EditOutcome::Done, new) => {
                    if let Some(new) = new {
                        self.invalidate_code(link.workspace.as_str(), new.code.as_str());
                    }
                    self.invalidate(&link).await;
                    if is_retargeted {
                        self.retarget_alarm.retargeted(caller);
                    }
                    return self.reload_link(&workspace, code).await;
                }
                (EditOutcome::CodeTaken, Some(new)) => {
                    self.explain_taken(&link, new).await?;
                    wants_main = false;
                }
                (EditOutcome::CodeTaken | EditOutcome::Changed, _) => {}
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
        self.invalidate(&link).await;
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
        self.invalidate(&link).await;
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
    fn apply(
        &self,
        link: &Link,
        patch: &LinkPatch,
        plan: &PlanChanges,
        now: Timestamp,
    ) -> Result<LinkEdit, AppError> {
        let mut edit = LinkEdit {
            strategy: link.strategy,
            target: link.target.clone(),
            canonical_hash: link.canonical_hash,
            fields: link.fields.clone(),
            plan: link.plan.clone(),
            code: None,
        };
        let mut errors = Vec::new();
        if let Some(url) = &patch.original_url {
            errors.extend(self.retarget(&mut edit, url).err());
        }
        errors.extend(edit.fields.apply(&patch.fields, now).into_iter().map(FieldError::from));
        if link.fields.archived_at.0.is_some() && edit.fields.archived_at.0.is_some() {
            edit.fields.archived_at = link.fields.archived_at;
        }
        match self.replan(Some(link), plan, &edit.fields) {
            Ok(plan) => edit.plan = plan,
            Err(refused) => errors.extend(refused),
        }
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
    let code = edit.code.as_ref().map(|_| "short_code");
    let fields = target.into_iter().chain(code).chain(link.fields.differing(&edit.fields));
    let fields = fields.map(str::to_owned).chain(changed_plan_fields(link, edit)).collect();
    let old_target = (link.target != edit.target).then(|| link.target.clone());
    let old_code = edit.code.as_ref().map(|_| link.code.to_string());
    AuditDetail { fields, old_target, old_code, ..AuditDetail::default() }
}
