//! Tags of a workspace's links, or of one's own in `main`: counts, another name, and deleting them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::app::links::list::list_scope;
use crate::app::page::{page_size, read_cursor};
use crate::app::{Action, App, AppError, AuditDetail, FieldError, Page, Resource};
use crate::store::{ListScope, Subject, TagChange, TagCount};
use kurz_core::account::{Act, Caller};
use kurz_core::code::WorkspaceId;
use kurz_core::link::fields::tag_text;

impl App {
    /// A page of tags, by name, with the number of links that have them; with `with_clicks` also of clicks.
    pub async fn list_tags(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        with_clicks: bool,
        cursor: Option<&str>,
        limit: Option<i64>,
    ) -> Result<Page<TagCount>, AppError> {
        let scope = self.tag_scope(caller, workspace, Act::ReadLinks).await?;
        let size = page_size(limit)?;
        let read = |text: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        let after = read_cursor(cursor, |text| read(text).filter(|tag| !tag.contains('\0')))?;
        let after = after.unwrap_or_default();
        let tags = self.parts.store.list_tags(&scope, with_clicks, &after, size + 1).await?;
        Ok(Page::cut(tags, size, |last| URL_SAFE_NO_PAD.encode(&last.tag)))
    }

    /// Give a tag another name on all links, in one transaction.
    pub async fn rename_tag(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        tag: &str,
        name: &str,
    ) -> Result<String, AppError> {
        let scope = self.tag_scope(caller, workspace, Act::ManageLinks).await?;
        let refused = |error: kurz_core::link::fields::LinkFieldError| {
            FieldError::new("name", error.code(), error)
        };
        let name = tag_text(name).map_err(refused)?;
        let tag = known_tag(tag)?;
        if tag == name {
            return Ok(name);
        }
        let (before, after) = (Some(tag.to_owned()), Some(name.clone()));
        let detail = AuditDetail { tag: before, name: after, ..AuditDetail::default() };
        let subject = Subject::workspace(workspace);
        let change = self.audit_with(caller, subject, Action::TagRenamed, detail).await?;
        self.tag_changed(self.parts.store.rename_tag(&scope, tag, &name, &change).await?)?;
        Ok(name)
    }

    /// Take a tag from all links, in one transaction.
    pub async fn delete_tag(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        tag: &str,
    ) -> Result<(), AppError> {
        let scope = self.tag_scope(caller, workspace, Act::ManageLinks).await?;
        let tag = known_tag(tag)?;
        let detail = AuditDetail { tag: Some(tag.to_owned()), ..AuditDetail::default() };
        let subject = Subject::workspace(workspace);
        let change = self.audit_with(caller, subject, Action::TagDeleted, detail).await?;
        self.tag_changed(self.parts.store.delete_tag(&scope, tag, &change).await?)
    }

    /// Links that are known to exist are read again; on other instances within a second, when their counts are.
    fn tag_changed(&self, change: TagChange) -> Result<(), AppError> {
        match change {
            TagChange::Done => {
                self.parts.reuse.clear();
                Ok(())
            }
            TagChange::Missing => Err(AppError::NotFound(Resource::Tag)),
            TagChange::Taken => Err(AppError::TagTaken),
        }
    }

    /// In `main` everybody has tags of their own; where nobody has an account, they are everybody's.
    async fn tag_scope(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        act: Act,
    ) -> Result<ListScope, AppError> {
        let (workspace, reach) = self.enter(caller, workspace, act).await?;
        list_scope(caller, &workspace.id, reach, true)
    }
}

/// A text that may be a tag.
fn known_tag(tag: &str) -> Result<&str, AppError> {
    if tag.contains('\0') { Err(AppError::NotFound(Resource::Tag)) } else { Ok(tag) }
}
