//! The plan of a link in requests: every URL in it is checked like a target, a password is hashed before it is
//! stored, and a plan that cannot be compiled is never stored.

use std::borrow::Cow;

use crate::app::links::create::LinkRequest;
use crate::app::{App, AppError, FieldError};
use crate::store::LinkEdit;
use kurz_core::analytics::AnalyticsMode;
use kurz_core::code::WorkspaceId;
use kurz_core::code::canonical::MAX_BYTES;
use kurz_core::link::{Change, Link, LinkFields, LinkId, StoredPlan};
use kurz_core::plan::{
    CheckContext, CompileContext, CompileError, Plan, PlanChanges, PlanDefaults, PlanDocument,
    PlanError, PlanProblem, PlanWarning, SplitKey, TestKey,
};

/// As long as a code or a workspace's name can be.
const LONGEST_NAME: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// The fields of a plan that lead to a page of the link's own, for which the contract has a code of its own.
const ASIDE: [&str; 3] = ["expired_url", "pending_url", "fallback_url"];

impl App {
    /// The document of a stored plan; an empty one where there is none.
    pub(crate) fn plan_document(stored: Option<&StoredPlan>) -> Result<PlanDocument, FieldError> {
        let Some(stored) = stored else { return Ok(PlanDocument::default()) };
        PlanDocument::from_stored(&stored.document, &stored.keys).map_err(|error| {
            tracing::error!(%error, "a stored plan is damaged");
            FieldError::new("rules", PlanError::Damaged.code(), PlanError::Damaged)
        })
    }

    /// The plan of a link with these fields after `changes`; `None` if nothing is set. `link` is what is there, or
    /// `None` for a new link.
    pub(super) fn replan(
        &self,
        link: Option<&Link>,
        changes: &PlanChanges,
        fields: &LinkFields,
    ) -> Result<Option<StoredPlan>, Vec<FieldError>> {
        let old = link.and_then(|link| link.plan.as_ref());
        if old.is_none() && changes.is_empty() {
            return Ok(None);
        }
        let before = Self::plan_document(old).map_err(|error| vec![error])?;
        let random = || {
            let mut key = [0; SplitKey::BYTES];
            self.parts.entropy.fill(&mut key);
            key
        };
        let after = changes.apply(&before, random).map_err(said)?;
        let policy = &self.parts.policy;
        let mut errors = said(after.check(&CheckContext {
            expires_at: fields.expires_at,
            redirect_status: fields.redirect_status,
            // What the server does since may be another than when the plan was set.
            health_checks: changes.is_empty() || policy.health_checks,
            knows_visitors: changes.is_empty()
                || policy.analytics.mode_with(None) != AnalyticsMode::Off,
        }));
        errors.extend(self.check_plan_urls(&before, &after, link.is_none()));
        if errors.is_empty() {
            errors.extend(check_size(&after).err());
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        // A hash of a password has a salt: the same text is the same plan.
        let keys = after.keys();
        Ok((!after.is_empty()).then(|| StoredPlan { document: after.to_json(), keys }))
    }

    /// Every URL that was not in the plan before, checked like a target.
    pub(crate) fn check_plan_urls(
        &self,
        before: &PlanDocument,
        after: &PlanDocument,
        is_new: bool,
    ) -> Vec<FieldError> {
        let known = before.urls();
        let mut errors = Vec::new();
        for (field, url) in after.urls() {
            if known.iter().any(|(_, old)| *old == url) {
                continue;
            }
            if let Err(mut error) = self.check_url(field.clone(), url) {
                if ASIDE.contains(&field.as_str()) && error.code == "url-self-reference" {
                    error.code = "url-own";
                }
                errors.push(error);
            } else if self.parts.policy.fixed_targets && !is_new {
                let detail = "links of this server keep their targets: make another link";
                errors.push(FieldError::new(field, "target-fixed", detail));
            }
        }
        errors
    }

    /// `changes` with the hash of the password that they set.
    pub(super) async fn hash_password<'a>(
        &self,
        changes: &'a PlanChanges,
    ) -> Result<Cow<'a, PlanChanges>, AppError> {
        let Change::To(Some(password)) = &changes.password else {
            return Ok(Cow::Borrowed(changes));
        };
        let hash = self.parts.passwords.hash_link(password).await?;
        let mut hashed = changes.clone();
        hashed.set_hash(hash);
        Ok(Cow::Owned(hashed))
    }

    /// Requests with the hashes of the passwords that they set.
    pub(super) async fn hash_passwords<'a>(
        &self,
        requests: &'a [LinkRequest],
    ) -> Result<Cow<'a, [LinkRequest]>, AppError> {
        let sets = |request: &LinkRequest| matches!(request.plan.password, Change::To(Some(_)));
        if !requests.iter().any(sets) {
            return Ok(Cow::Borrowed(requests));
        }
        let mut hashed = requests.to_vec();
        for request in &mut hashed {
            let plan = self.hash_password(&request.plan).await?.into_owned();
            request.plan = plan;
        }
        Ok(Cow::Owned(hashed))
    }

    /// Refuse rules about visitors where the workspace keeps nothing about them.
    pub(super) async fn check_visitor_rules(
        &self,
        workspace: &WorkspaceId,
        plan: Option<&StoredPlan>,
    ) -> Result<(), AppError> {
        let Ok(document) = Self::plan_document(plan) else { return Ok(()) };
        let Some(at) = document.rule_about(TestKey::Visitor) else { return Ok(()) };
        let privacy = self.parts.store.find_privacy(workspace).await?.unwrap_or_default();
        if self.parts.policy.analytics.mode_with(privacy.mode) != AnalyticsMode::Off {
            return Ok(());
        }
        let error = PlanError::VisitorUnknown;
        Err(FieldError::new(format!("rules[{at}].when"), error.code(), error).into())
    }

    /// Tests of a plan that are always unknown here. Countries are known without a file.
    pub(crate) fn plan_warnings(&self, document: &PlanDocument) -> Vec<PlanWarning> {
        document.warnings(true, self.parts.geo_file.is_some())
    }

    /// What a link's plan is with what its workspace adds.
    pub(crate) async fn whole_plan(
        &self,
        workspace: &WorkspaceId,
        own: &PlanDocument,
    ) -> Result<PlanDocument, AppError> {
        Ok(self.stored_defaults(workspace).await?.complete(own))
    }

    pub(crate) async fn stored_defaults(
        &self,
        workspace: &WorkspaceId,
    ) -> Result<PlanDefaults, AppError> {
        let Some(text) = self.parts.store.find_link_defaults(workspace).await? else {
            return Ok(PlanDefaults::default());
        };
        PlanDefaults::from_json(&text).map_err(|error| {
            tracing::error!(%workspace, %error, "the defaults of a workspace are damaged");
            FieldError::new("rules", PlanError::Damaged.code(), PlanError::Damaged).into()
        })
    }

    /// Compile the plan of a link.
    pub(crate) fn compile_plan(
        &self,
        link: &Link,
        document: &PlanDocument,
    ) -> Result<Plan, AppError> {
        let context = CompileContext {
            link: link.id,
            target: &link.target,
            code: link.code.as_str(),
            workspace: link.workspace.as_str(),
            no_track: self.parts.policy.no_track_param.as_deref(),
            now: self.parts.clock.now(),
        };
        Plan::compile(document, &context).map_err(|error| too_large(&error).into())
    }
}

/// The names of the fields of a plan that an edit changes.
pub(super) fn changed_plan_fields(link: &Link, edit: &LinkEdit) -> Vec<String> {
    if link.plan == edit.plan {
        return Vec::new();
    }
    let read = |plan: &Option<StoredPlan>| App::plan_document(plan.as_ref()).unwrap_or_default();
    read(&edit.plan).differing(&read(&link.plan))
}

/// Whether an edit adds a place that visitors may be sent to.
pub(super) fn has_new_urls(link: &Link, edit: &LinkEdit) -> bool {
    let read = |plan: &Option<StoredPlan>| App::plan_document(plan.as_ref()).unwrap_or_default();
    let (old, new) = (read(&link.plan), read(&edit.plan));
    let known = old.urls();
    new.urls().iter().any(|(_, url)| !known.iter().any(|(_, old)| old == url))
}

pub(crate) fn said(problems: Vec<PlanProblem>) -> Vec<FieldError> {
    let one =
        |problem: PlanProblem| FieldError::new(problem.field, problem.error.code(), problem.error);
    problems.into_iter().map(one).collect()
}

/// Whether it compiles, whatever the link's code and target.
fn check_size(document: &PlanDocument) -> Result<(), FieldError> {
    let longest = format!("https://e.example/{}", "x".repeat(MAX_BYTES - 32));
    let context = CompileContext {
        link: LinkId(0),
        target: &longest,
        code: LONGEST_NAME,
        workspace: LONGEST_NAME,
        no_track: None,
        now: kurz_core::time::Timestamp::from_ms(0),
    };
    Plan::compile(document, &context).map(|_| ()).map_err(|error| too_large(&error))
}

fn too_large(error: &CompileError) -> FieldError {
    let code = match error {
        CompileError::TooLarge(_) => PlanError::TooLarge(String::new()).code(),
        CompileError::Damaged(_) => PlanError::Damaged.code(),
    };
    FieldError::new("rules", code, error)
}
