//! Changing links: edit, delete, restore.

use crate::app::draft::{
    check_expiry, check_hit_limit, check_status, check_tags, check_title, kept_target,
};
use crate::app::{App, AppError, Change, ChangeDetail, FieldError, Missing, ShownLink};
use crate::store::{LinkEdit, Subject};
use kurz_core::account::{Act, Caller};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Link, Status, Strategy};
use kurz_core::time::Timestamp;

/// How often an edit is made again on a link that somebody else changed meanwhile.
const TRIES: u32 = 5;

/// What to change about a link.
#[derive(Clone, Debug, Default)]
pub struct LinkPatch {
    /// Where it leads.
    pub original_url: Option<String>,
    /// A name for people.
    pub title: Change<Option<String>>,
    /// Words to find it by.
    pub tags: Change<Option<Vec<String>>>,
    /// From when on it is gone.
    pub expires_at: Change<Option<Timestamp>>,
    /// Hits a month; `None`: what the workspace says.
    pub hit_limit: Change<Option<i64>>,
    /// 301, 302, 307 or 308; `None`: 302.
    pub redirect_status: Change<Option<u16>>,
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
                return Err(AppError::NotFound(Missing::Link));
            }
            // Its owner could lead it elsewhere, and have its URL again under another code.
            if link.disabled.is_some() && Self::administers(caller).is_err() {
                return Err(AppError::LinkLocked);
            }
            let edit = self.apply(&link, patch, now)?;
            let detail = edited(&link, &edit);
            let is_retargeted = detail.old_target.is_some();
            let change = self.note(caller, Subject::link(link.id), "edited", detail).await?;
            if self.parts.store.edit_link(&link, &edit, now, &change).await? {
                self.forget(&link);
                if is_retargeted {
                    self.alarm.retargeted(caller);
                }
                return self.look_again(&workspace, code).await;
            }
        }
        Err(AppError::ChangedMeanwhile)
    }

    /// Delete a link. It is gone from lists and redirects at once, and can be restored.
    pub async fn delete_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<(), AppError> {
        let (_, link) = self.reach_link(caller, workspace, code, Act::ManageLinks).await?;
        let change =
            self.note(caller, Subject::link(link.id), "deleted", ChangeDetail::default()).await?;
        let now = self.parts.clock.now();
        let deleted = self.parts.store.delete_link(link.id, now, &change).await?;
        self.forget(&link);
        if deleted { Ok(()) } else { Err(AppError::NotFound(Missing::Link)) }
    }

    /// Bring a deleted link back.
    pub async fn restore_link(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<ShownLink, AppError> {
        let (workspace, link) = self.reach_link(caller, workspace, code, Act::ManageLinks).await?;
        let change =
            self.note(caller, Subject::link(link.id), "restored", ChangeDetail::default()).await?;
        let now = self.parts.clock.now();
        let restored = self.parts.store.restore_link(link.id, now, &change).await?;
        self.forget(&link);
        if !restored {
            return Err(AppError::NotDeleted);
        }
        self.look_again(&workspace, code).await
    }

    /// What the link is to be.
    fn apply(&self, link: &Link, patch: &LinkPatch, now: Timestamp) -> Result<LinkEdit, AppError> {
        let mut edit = LinkEdit {
            strategy: link.strategy,
            target: link.target.clone(),
            canonical_hash: link.canonical_hash,
            title: link.title.clone(),
            tags: link.tags.clone(),
            redirect_status: link.redirect_status,
            hit_limit: link.hit_limit,
            expires_at: link.expires_at,
        };
        let mut errors = Vec::new();
        let mut note = |result: Result<(), FieldError>| errors.extend(result.err());
        if let Some(url) = &patch.original_url {
            note(self.retarget(&mut edit, url));
        }
        if let Change::To(title) = &patch.title {
            note(check_title(title.as_deref()).map(|title| edit.title = title));
        }
        if let Change::To(tags) = &patch.tags {
            let tags = tags.as_deref().unwrap_or_default();
            note(check_tags(tags).map(|tags| edit.tags = tags));
        }
        if let Change::To(end) = patch.expires_at {
            note(check_expiry(end, now).map(|end| edit.expires_at = end));
        }
        if let Change::To(limit) = patch.hit_limit {
            note(check_hit_limit(limit).map(|limit| edit.hit_limit = limit));
        }
        if let Change::To(status) = patch.redirect_status {
            note(check_status(status).map(|status| edit.redirect_status = status));
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
fn edited(link: &Link, edit: &LinkEdit) -> ChangeDetail {
    let mut fields = Vec::new();
    let mut note = |differs: bool, field: &str| {
        if differs {
            fields.push(field.to_owned());
        }
    };
    note(link.target != edit.target, "original_url");
    note(link.title != edit.title, "title");
    note(link.tags != edit.tags, "tags");
    note(link.expires_at != edit.expires_at, "expires_at");
    note(link.hit_limit != edit.hit_limit, "hit_limit");
    note(link.redirect_status != edit.redirect_status, "redirect_status");
    let old_target = (link.target != edit.target).then(|| link.target.clone());
    ChangeDetail { fields, old_target, ..ChangeDetail::default() }
}
