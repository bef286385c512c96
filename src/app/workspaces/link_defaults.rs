//! What a workspace says for links that say nothing themselves: forwarding of queries, campaigns, where expired links
//! lead, robots, a consent page.

use crate::app::links::plan::said;
use crate::app::{Action, App, AppError, AuditDetail, Resource};
use crate::store::Subject;
use kurz_core::account::{Act, Caller};
use kurz_core::code::WorkspaceId;
use kurz_core::plan::{CheckContext, PlanChanges, PlanDefaults, PlanDocument, PlanField};

impl App {
    /// The defaults of a workspace.
    pub async fn link_defaults(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
    ) -> Result<PlanDefaults, AppError> {
        self.enter(caller, id, Act::Look).await?;
        self.stored_defaults(id).await
    }

    /// Replace them; an empty request removes them.
    pub async fn set_link_defaults(
        &self,
        caller: &Caller,
        id: &WorkspaceId,
        changes: &PlanChanges,
    ) -> Result<PlanDefaults, AppError> {
        self.enter(caller, id, Act::Manage).await?;
        // They hold no splits.
        let document = changes.apply(&PlanDocument::default(), || [0; 16]);
        let document = document.map_err(|problems| AppError::Invalid(said(problems)))?;
        let mut errors = said(document.check(&CheckContext {
            expires_at: None,
            redirect_status: 302,
            health_checks: true,
            knows_visitors: true,
        }));
        errors.extend(self.check_plan_urls(&PlanDocument::default(), &document, true));
        if !errors.is_empty() {
            return Err(AppError::Invalid(errors));
        }
        let defaults = PlanDefaults::of(&document);
        let before = self.stored_defaults(id).await.unwrap_or_default();
        let differs = |field: &PlanField| {
            defaults.document().field(*field) != before.document().field(*field)
        };
        let fields = PlanDefaults::FIELDS.into_iter().filter(differs);
        let fields = fields.map(|field| format!("defaults.{}", field.name())).collect();
        let detail = AuditDetail { fields, ..AuditDetail::default() };
        let change =
            self.audit_with(caller, Subject::workspace(id), Action::Edited, detail).await?;
        let text = (!defaults.is_empty()).then(|| defaults.document().to_json());
        let now = self.parts.clock.now();
        if !self.parts.store.set_link_defaults(id, text.as_deref(), now, &change).await? {
            return Err(AppError::NotFound(Resource::Workspace));
        }
        // Any link of the workspace may lead elsewhere now.
        self.invalidate_all_links();
        Ok(defaults)
    }
}
