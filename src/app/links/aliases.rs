//! Aliases: further codes of a link, which lead where it leads and count as it counts. A code that was an alias
//! is never another link's.

use crate::app::links::edit::TRIES;
use crate::app::{Action, App, AppError, AuditDetail, FieldError, Resource, ShownLink};
use crate::store::{AliasAdded, MOST_ALIASES, NewAlias, Subject, Workspace};
use kurz_core::account::{Act, Caller};
use kurz_core::code::{Code, WorkspaceId, custom};
use kurz_core::link::{Link, LinkId, Status};

impl App {
    /// Give a link a further code. One that it has already is as good.
    pub async fn add_alias(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        alias: &str,
    ) -> Result<ShownLink, AppError> {
        let admitted = self.admit_links(caller, 1)?;
        let added = self.try_alias(caller, workspace, code, alias).await;
        admitted.settle_count(1, usize::from(matches!(added, Ok((_, true)))));
        added.map(|(shown, _)| shown)
    }

    /// The link, and whether the alias is new.
    async fn try_alias(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        alias: &str,
    ) -> Result<(ShownLink, bool), AppError> {
        let mut wants_main = self.parts.hosts.of_workspace(workspace).is_empty();
        for _ in 0..TRIES {
            let (workspace, link) = self.reach_to_alias(caller, workspace, code).await?;
            if alias == link.code.as_str() || link.aliases.iter().any(|own| own.as_str() == alias) {
                return Ok((self.reload_link(&workspace, code).await?, false));
            }
            let new = self.new_alias(caller, &link, ("code", alias), wants_main).await?;
            let detail = AuditDetail { alias: Some(alias.to_owned()), ..AuditDetail::default() };
            let subject = Subject::link(link.id);
            let change = self.audit_with(caller, subject, Action::AliasAdded, detail).await?;
            let now = self.parts.clock.now();
            match self.parts.store.add_alias(&link, &new, now, &change).await? {
                AliasAdded::Done => {
                    self.invalidate(&link).await;
                    return Ok((self.reload_link(&workspace, code).await?, true));
                }
                AliasAdded::Taken => {
                    self.explain_taken(&link, &new).await?;
                    wants_main = false;
                }
                AliasAdded::Changed => {}
            }
        }
        Err(AppError::ChangedMeanwhile)
    }

    /// Take an alias from a link: its address answers 404 from then on.
    pub async fn remove_alias(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
        alias: &str,
    ) -> Result<(), AppError> {
        for _ in 0..TRIES {
            let (_, link) = self.reach_to_alias(caller, workspace, code).await?;
            let missing = || AppError::NotFound(Resource::Alias);
            let own = link.aliases.iter().find(|own| own.as_str() == alias).ok_or_else(missing)?;
            let detail = AuditDetail { alias: Some(alias.to_owned()), ..AuditDetail::default() };
            let subject = Subject::link(link.id);
            let change = self.audit_with(caller, subject, Action::AliasRemoved, detail).await?;
            let now = self.parts.clock.now();
            if self.parts.store.remove_alias(&link, own, now, &change).await? {
                self.invalidate_code(link.workspace.as_str(), alias);
                self.invalidate(&link).await;
                return Ok(());
            }
        }
        Err(AppError::ChangedMeanwhile)
    }

    /// A link whose codes may be changed.
    async fn reach_to_alias(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<(Workspace, Link), AppError> {
        let (workspace, link) = self.reach_link(caller, workspace, code, Act::ManageLinks).await?;
        if link.status(self.parts.clock.now()) == Some(Status::Deleted) {
            return Err(AppError::NotFound(Resource::Link));
        }
        if link.disabled.is_some() && Self::require_admin(caller).is_err() {
            return Err(AppError::LinkLocked);
        }
        Ok((workspace, link))
    }

    /// A code that a link is to have, checked; `field` is what a request calls it.
    pub(super) async fn new_alias(
        &self,
        caller: &Caller,
        link: &Link,
        (field, code): (&'static str, &str),
        wants_main: bool,
    ) -> Result<NewAlias, AppError> {
        let refused = |error: custom::CodeError| FieldError::new(field, error.code(), error);
        let is_own = link.aliases.iter().any(|own| own.as_str() == code);
        // A generated code may be one that nobody can choose.
        let code = match Code::parse(code).filter(|_| is_own) {
            Some(own) => own,
            None => custom::parse(code, &self.parts.reserved).map_err(refused)?,
        };
        if !is_own && link.aliases.len() >= MOST_ALIASES {
            let detail = format!("a link has at most {MOST_ALIASES} aliases: remove one first");
            return Err(FieldError::new(field, "aliases-too-many", detail).into());
        }
        let id = self.link_ids.take(&self.parts.store, 1).await?.pop().unwrap_or_default();
        let counted = caller.identity().filter(|identity| !identity.is_admin);
        let counted = counted.map(|identity| identity.id);
        let limit = self.custom_code_limit(&link.workspace, counted, self.parts.clock.now());
        Ok(NewAlias { id: LinkId(id), code, wants_main, owner: link.owner, limit })
    }

    /// Why a code could not be had. `Ok`: another workspace has it on the main host, and without that place it
    /// may be had.
    pub(super) async fn explain_taken(
        &self,
        link: &Link,
        wanted: &NewAlias,
    ) -> Result<(), AppError> {
        if self.parts.store.is_code_taken(&link.workspace, &wanted.code).await? {
            return Err(AppError::CodeTaken);
        }
        self.check_custom_code_limit(wanted.limit).await
    }
}
