//! `/app/w/{workspace}/l/{code}/rules`: the editor of a link's rules and its split, as a form and as JSON; and the
//! buttons of the rules on the link's page. Every button sends the whole form, which comes back as it was filled in.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Value, json};

use crate::app::{App, AppError, LinkPatch};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::links::WorkspaceView;
use crate::web::links::form_fields::Marks;
use crate::web::links::plan_page::{PlanPage, plan_changes};
use crate::web::links::rules::controls::{Control, RuleView, SplitView, rule_views, split_view};
use crate::web::links::rules::draft;
use crate::web::links::rules::draft_steps::DraftStep;
use crate::web::page::{self, Layout};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::plan::{PlanField, PlanJson};

/// The fields of a plan that are edited here.
const FIELDS: [PlanField; 2] = [PlanField::Rules, PlanField::Split];

#[derive(Template)]
#[template(path = "rules.html")]
struct EditorPage {
    page: Layout,
    place: WorkspaceView,
    base: String,
    code: String,
    title: String,
    /// The sentence around the target.
    intro: (String, String),
    target: String,
    version: i64,
    general: Option<String>,
    focus_general: bool,
    /// The text, where the rules are shown as JSON, and what is wrong with it.
    json: Option<String>,
    json_faults: Vec<(String, String)>,
    rules: Vec<RuleView>,
    split: Option<SplitView>,
    focus_add: bool,
    focus_split: bool,
}

/// What the editor shows.
struct Shown {
    draft: Value,
    marks: Marks,
    general: Option<String>,
    json: Option<String>,
    json_faults: Vec<(String, String)>,
}

impl Shown {
    fn form(draft: Value, focus: Option<String>) -> Self {
        let marks = Marks::focused(focus);
        Self { draft, marks, general: None, json: None, json_faults: Vec::new() }
    }

    fn json(draft: &Value, json_faults: Vec<(String, String)>) -> Self {
        let json = serde_json::to_string_pretty(draft).unwrap_or_default();
        Self { json: Some(json), json_faults, ..Self::form(Value::Null, None) }
    }
}

fn editor_page(app: &App, visitor: &Visitor, subject: PlanPage, shown: Shown) -> EditorPage {
    let words = visitor.words();
    let w = &words.rules;
    let (before, after) = w.intro.split_once("{}").unwrap_or((w.intro, ""));
    let Shown { draft, marks, general, json, json_faults } = shown;
    EditorPage {
        page: Layout::new(app, visitor),
        title: fill(w.edit_title, &subject.code),
        intro: (before.to_owned(), after.to_owned()),
        target: subject.shown.visible_target(),
        version: subject.version(),
        focus_general: general.is_some() && marks.is_clean(),
        general,
        json,
        json_faults,
        rules: rule_views(&draft, &marks, visitor.language),
        split: draft.get("split").map(|_| split_view(&draft, "", &marks)),
        focus_add: marks.has_focus("rules"),
        focus_split: marks.has_focus("split"),
        base: subject.base(),
        code: subject.code,
        place: subject.place,
    }
}

/// The rules and the split of a plan.
fn draft_of(plan: &Value) -> Value {
    let rules = plan.get("rules").cloned().unwrap_or_else(|| json!([]));
    let split = plan.get("split").filter(|split| !split.is_null()).cloned();
    let split = split.map(|split| ("split".to_owned(), split));
    Value::Object([("rules".to_owned(), rules)].into_iter().chain(split).collect())
}

/// `GET /app/w/{workspace}/l/{code}/rules`: `?rule=2` opens a rule, `?new=1` adds one.
pub(in crate::web) async fn page(
    PageCall { app, visitor, query, path: (workspace, code) }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let mut draft = draft_of(&subject.plan);
    let rule = query.text("rule").parse::<usize>().ok().and_then(|rule| rule.checked_sub(1));
    let focus = match rule {
        Some(rule) => Some(format!("rules[{rule}].name")),
        None if query.word("new").is_some() => DraftStep::AddRule.take(&mut draft),
        None => None,
    };
    Ok(page::show(&editor_page(&app, &visitor, subject, Shown::form(draft, focus))))
}

/// What was sent: the form, or JSON that was typed or carried along. `Err`: text that is no JSON, and why.
pub(super) fn sent_draft(form: &FormData, visitor: &Visitor) -> Result<Value, (String, String)> {
    let text = form.word("json").or_else(|| form.word("draft"));
    let Some(text) = text else { return Ok(draft::read(form, visitor.language)) };
    // The tree of plans refuses keys that stand twice.
    let read = PlanJson::parse(text).and_then(|_| serde_json::from_str::<Value>(text));
    match read {
        Ok(rules @ Value::Array(_)) => Ok(json!({ "rules": rules })),
        Ok(draft @ Value::Object(_)) => Ok(draft),
        Ok(_) => Err((text.to_owned(), visitor.words().rules.json_shape.to_owned())),
        Err(error) => Err((text.to_owned(), fill(visitor.words().rules.json_unreadable, error))),
    }
}

/// `POST /app/w/{workspace}/l/{code}/rules`
pub(in crate::web) async fn edit(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let mut draft = match sent_draft(&form, &visitor) {
        Ok(draft) => draft,
        Err((text, fault)) => {
            let faults = vec![(String::new(), fault)];
            let shown = Shown { json: Some(text), ..Shown::json(&Value::Null, faults) };
            let page = editor_page(&app, &visitor, subject, shown);
            return Ok(page::show_with(http::StatusCode::UNPROCESSABLE_ENTITY, &page));
        }
    };
    let shown = match form.text("do") {
        "save" => return save(&app, &visitor, subject, draft, &form).await,
        "json" => Shown::json(&draft, Vec::new()),
        "form" => Shown::form(draft, None),
        step => {
            let new_test = |group: &str| form.text(&format!("add {group}")).to_owned();
            let step = DraftStep::parse(step, new_test);
            let focus = step.and_then(|step| step.take(&mut draft));
            Shown::form(draft, focus)
        }
    };
    Ok(page::show(&editor_page(&app, &visitor, subject, shown)))
}

async fn save(
    app: &App,
    visitor: &Visitor,
    subject: PlanPage,
    draft: Value,
    form: &FormData,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let is_json = form.word("json").is_some();
    let refusal = match set(app, visitor, &subject, &draft, form).await {
        Ok(()) => {
            let back = format!("{}?note=rules#rules", subject.base());
            return Ok(Redirect::to(&back).into_response());
        }
        Err(error) => FormErrors::read(error, words)?,
    };
    let (status, general) = (refusal.status, refusal.general.clone());
    let faults = refusal.into_fields();
    let shown = if is_json {
        Shown { general, ..Shown::json(&draft, faults) }
    } else {
        let general = general.or_else(|| Some(words.rules.errors_below.to_owned()));
        Shown { marks: Marks::of(faults), general, ..Shown::form(draft, None) }
    };
    Ok(page::show_with(status, &editor_page(app, visitor, subject, shown)))
}

/// Make a draft the rules and the split of the link, unless somebody changed it since the form was shown.
async fn set(
    app: &App,
    visitor: &Visitor,
    subject: &PlanPage,
    draft: &Value,
    form: &FormData,
) -> Result<(), AppError> {
    if !subject.is_version(form.text("version")) {
        return Err(AppError::ChangedMeanwhile);
    }
    let plan = plan_changes(&FIELDS, draft)?;
    subject.save(app, visitor, LinkPatch { plan, ..LinkPatch::default() }).await
}

/// `POST /app/w/{workspace}/l/{code}/rules/change`: move, pause or delete a rule from the link's page.
pub(in crate::web) async fn change(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
    form: FormData,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let mut draft = draft_of(&subject.plan);
    if let Some(step) = DraftStep::parse(form.text("do"), |_| String::new()) {
        step.take(&mut draft);
        set(&app, &visitor, &subject, &draft, &form).await?;
    }
    Ok(Redirect::to(&format!("{}?note=rules#rules", subject.base())).into_response())
}
