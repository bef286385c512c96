//! A link and its plan, as the pages that change the plan need them.

use serde_json::{Value, json};

use crate::app::{App, AppError, FieldError, LinkPatch, ShownLink};
use crate::web::errors::PageError;
use crate::web::links::WorkspaceView;
use crate::web::visitor::Visitor;
use kurz_core::plan::{PlanChanges, PlanField, PlanJson};

#[derive(Debug)]
pub(super) struct PlanPage {
    pub(super) place: WorkspaceView,
    pub(super) shown: ShownLink,
    pub(super) code: String,
    /// Its plan as the API shows it, without the password.
    pub(super) plan: Value,
    pub(super) has_password: bool,
}

/// The plan of a link in JSON, and whether there is a password, which is taken out.
pub(in crate::web) fn plan_of(shown: &ShownLink) -> (Value, bool) {
    let stored = shown.link.plan.as_ref();
    let plan = stored.and_then(|plan| serde_json::from_str(&plan.document).ok());
    let mut plan: Value = plan.unwrap_or_else(|| json!({}));
    let password = plan.as_object_mut().and_then(|plan| plan.remove("password"));
    (plan, password.is_some())
}

impl PlanPage {
    pub(super) async fn enter(
        app: &App,
        visitor: &Visitor,
        workspace: &str,
        code: String,
    ) -> Result<Self, PageError> {
        let place = WorkspaceView::enter(app, visitor, workspace, "").await?;
        let shown = app.show_link(&visitor.caller, &place.workspace, &code).await?;
        let (plan, has_password) = plan_of(&shown);
        Ok(Self { place, shown, code, plan, has_password })
    }

    /// The address of the link's page.
    pub(super) fn base(&self) -> String {
        self.place.link(&self.code)
    }

    /// What a form carries along, to notice that somebody else changed the link meanwhile.
    pub(super) const fn version(&self) -> i64 {
        version(&self.shown)
    }

    pub(super) fn is_version(&self, sent: &str) -> bool {
        sent == self.version().to_string()
    }

    /// Change the link.
    pub(super) async fn save(
        &self,
        app: &App,
        visitor: &Visitor,
        patch: LinkPatch,
    ) -> Result<(), AppError> {
        let (caller, workspace) = (&visitor.caller, &self.place.workspace);
        app.edit_link(caller, workspace, &self.code, &patch).await.map(|_| ())
    }
}

pub(super) const fn version(shown: &ShownLink) -> i64 {
    shown.link.updated_at.as_ms()
}

/// Set the fields of a plan to `values`; null and missing ones remove them.
pub(in crate::web) fn plan_changes(
    fields: &[PlanField],
    values: &Value,
) -> Result<PlanChanges, AppError> {
    let known = |name: &str| fields.iter().any(|field| field.name() == name);
    let mut names = values.as_object().into_iter().flat_map(|values| values.keys());
    if let Some(name) = names.find(|name| !known(name)) {
        let detail = "there is no such field here: use rules and split";
        return Err(FieldError::new(name.clone(), "rules-invalid", detail).into());
    }
    let mut changes = PlanChanges::default();
    for field in fields {
        let value = values.get(field.name()).unwrap_or(&Value::Null);
        let tree = PlanJson::parse(&value.to_string());
        let tree = tree.map_err(|error| FieldError::new(field.name(), "rules-invalid", error))?;
        changes.set(*field, tree);
    }
    Ok(changes)
}
