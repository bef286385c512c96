//! `/app/w/{workspace}/l/{code}/options`: schedule, limits, password, parameters, pages before the target, card, apps.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Map, Value};

use crate::app::{App, LinkPatch};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::fill;
use crate::web::links::WorkspaceView;
use crate::web::links::create::unreadable;
use crate::web::links::option_form::OptionForm;
use crate::web::links::plan_page::{PlanPage, plan_changes};
use crate::web::page::{self, Layout};
use crate::web::visitor::{PageCall, Visitor};
use crate::web::workspaces::settings::defaults_json;
use kurz_core::plan::PlanField;
use kurz_core::time::Timestamp;

/// The fields of a plan that are edited here; the password is apart.
const FIELDS: [PlanField; 11] = [
    PlanField::ValidFrom,
    PlanField::ClickLimit,
    PlanField::ExpiredUrl,
    PlanField::PendingUrl,
    PlanField::FallbackUrl,
    PlanField::Query,
    PlanField::Utm,
    PlanField::Consent,
    PlanField::App,
    PlanField::Card,
    PlanField::Robots,
];

#[derive(Template)]
#[template(path = "options.html")]
struct OptionsPage {
    page: Layout,
    place: WorkspaceView,
    base: String,
    code: String,
    title: String,
    form: OptionForm,
    general: Option<String>,
    has_password: bool,
    /// What a card shows where it says nothing itself.
    short_host: String,
    card_title: String,
}

async fn options_page(
    app: &App,
    visitor: &Visitor,
    subject: PlanPage,
    form: OptionForm,
) -> Result<OptionsPage, PageError> {
    let words = visitor.words();
    let defaults = defaults_json(app, visitor, &subject.place.workspace).await?;
    let short = &subject.shown.short_url;
    let host = short.split_once("://").map_or(short.as_str(), |(_, rest)| rest);
    let title = subject.shown.link.fields.title.clone();
    Ok(OptionsPage {
        page: Layout::new(app, visitor),
        title: fill(words.options.title, &subject.code),
        form: form.following(defaults),
        general: None,
        has_password: subject.has_password,
        short_host: host.split('/').next().unwrap_or_default().to_owned(),
        card_title: title.unwrap_or_else(|| words.options.card_no_title.to_owned()),
        base: subject.base(),
        code: subject.code,
        place: subject.place,
    })
}

/// The form of a link as it is.
fn form_of(subject: &PlanPage, visitor: &Visitor) -> OptionForm {
    let fields = &subject.shown.link.fields;
    let mut values = subject.plan.clone();
    if let Some(values) = values.as_object_mut() {
        let end = fields.expires_at.map(Timestamp::to_rfc3339);
        values.insert("expires_at".to_owned(), end.into());
        values.insert("hit_limit".to_owned(), fields.hit_limit.into());
    }
    OptionForm::of(&values, visitor.language)
}

/// `GET /app/w/{workspace}/l/{code}/options`
pub(in crate::web) async fn page(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let form = form_of(&subject, &visitor);
    Ok(page::show(&options_page(&app, &visitor, subject, form).await?))
}

/// `POST /app/w/{workspace}/l/{code}/options`
pub(in crate::web) async fn edit(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
    sent: FormData,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let form = OptionForm::read(&sent, visitor.language);
    if sent.text("do") != "save" {
        return Ok(page::show(&options_page(&app, &visitor, subject, form).await?));
    }
    let refusal = match save(&app, &visitor, &subject, &form, &sent).await? {
        Ok(()) => {
            let back = format!("{}?note=options#rules", subject.base());
            return Ok(Redirect::to(&back).into_response());
        }
        Err(refusal) => refusal,
    };
    let status = refusal.status;
    let errors_below = visitor.words().rules.errors_below.to_owned();
    let general = refusal.general.clone().or(Some(errors_below));
    let form = form.marked(refusal.into_fields());
    let shown = options_page(&app, &visitor, subject, form).await?;
    Ok(page::show_with(status, &OptionsPage { general, ..shown }))
}

/// Save what differs from the link as it is.
async fn save(
    app: &App,
    visitor: &Visitor,
    subject: &PlanPage,
    form: &OptionForm,
    sent: &FormData,
) -> Result<Result<(), FormErrors>, PageError> {
    let words = visitor.words();
    let before = form_of(subject, visitor);
    let mut values = Map::new();
    let mut fields = Vec::new();
    let mut change = |field: PlanField, value: Value| {
        values.insert(field.name().to_owned(), value);
        fields.push(field);
    };
    for field in FIELDS {
        let value = form.json(field.name());
        if value != before.json(field.name()) {
            change(field, value);
        }
    }
    let password = sent.text("password");
    if !password.is_empty() {
        change(PlanField::Password, password.into());
    } else if sent.text("password.remove") == "on" {
        change(PlanField::Password, Value::Null);
    }
    let mut patch =
        LinkPatch { plan: plan_changes(&fields, &Value::Object(values))?, ..LinkPatch::default() };
    for name in ["expires_at", "hit_limit"] {
        let text = form.text(name);
        if text != before.text(name)
            && let Err(expected) = patch.fields.set_text(name, text)
        {
            return Ok(Err(FormErrors::of(name, unreadable(words, expected))));
        }
    }
    match subject.save(app, visitor, patch).await {
        Ok(()) => Ok(Ok(())),
        Err(error) => Ok(Err(FormErrors::read(error, words)?)),
    }
}
