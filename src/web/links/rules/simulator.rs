//! `/app/w/{workspace}/l/{code}/try`: what a visitor would get, and why; with rules as they are, or as they stand in
//! the editor. Begins with the values of whoever asks.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;

use crate::app::{App, AppError, FieldError, SimulatedVisit};
use crate::client_address::ClientAddress;
use crate::language::Language;
use crate::web::analytics::names;
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::i18n::{SimulateWords, fill};
use crate::web::links::WorkspaceView;
use crate::web::links::form_fields::{Field, Marks, plain};
use crate::web::links::plan_page::PlanPage;
use crate::web::links::rules::editor::sent_draft;
use crate::web::links::rules::outcome::OutcomeView;
use crate::web::page::{self, Layout, PageStatus};
use crate::web::visitor::{PageCall, Visitor};
use kurz_core::link::field_text::read_time;
use kurz_core::plan::PlanJson;

/// Fields of the form.
const FIELDS: [&str; 9] =
    ["device", "country", "language", "visitor", "at", "referrer", "query", "ip", "user_agent"];

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
    Version/18.5 Mobile/15E148 Safari/604.1";
const IPAD: &str = "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
    Version/18.5 Mobile/15E148 Safari/604.1";
const ANDROID: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 \
    Mobile Safari/537.36";
const WINDOWS: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
    Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0";
const MAC: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
    Version/18.5 Safari/605.1.15";
const LINUX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const INSTAGRAM: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like \
    Gecko) Mobile/15E148 Instagram 390.0.0.28.85 (iPhone15,2; iOS 18_5; en_US; en; scale=3.00; 1179x2556; 1)";
const PREVIEW: &str = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)";
const SEARCH: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

/// Visitors to choose from: a name in the form, what it is called, its user agent.
const DEVICES: [(&str, &str, &str); 9] = [
    ("iphone", "iPhone, Safari", IPHONE),
    ("android", "Android, Chrome", ANDROID),
    ("ipad", "iPad, Safari", IPAD),
    ("windows", "Windows, Edge", WINDOWS),
    ("mac", "macOS, Safari", MAC),
    ("linux", "Linux, Firefox", LINUX),
    ("instagram", "Instagram, iPhone", INSTAGRAM),
    ("preview", "", PREVIEW),
    ("search", "", SEARCH),
];

#[derive(Template)]
#[template(path = "try.html")]
struct TryPage {
    page: Layout,
    place: WorkspaceView,
    base: String,
    code: String,
    title: String,
    /// Rules that are not saved, in JSON.
    draft: Option<String>,
    form: TryForm,
    general: Option<String>,
    devices: Vec<(&'static str, String)>,
    countries: Vec<(&'static str, String)>,
    visits: Vec<(&'static str, String)>,
    result: Option<OutcomeView>,
    /// Whether the visitor pressed the button, and wants to see the result.
    was_sent: bool,
}

/// The form as it was filled in.
#[derive(Debug, Default)]
struct TryForm {
    values: BTreeMap<&'static str, String>,
    marks: Marks,
}

impl TryForm {
    fn field(&self, name: &str) -> Field {
        self.marks.field(name.to_owned(), self.text(name).to_owned())
    }

    fn text(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// The values of whoever asks.
    fn own(headers: &HeaderMap, address: &ClientAddress) -> Self {
        let values = [
            ("device", "own".to_owned()),
            ("language", header_text(headers, header::ACCEPT_LANGUAGE)),
            ("ip", address.0.to_string()),
            ("user_agent", header_text(headers, header::USER_AGENT)),
        ];
        Self { values: values.into(), marks: Marks::default() }
    }

    fn read(form: &FormData, headers: &HeaderMap) -> Self {
        let text = |name: &'static str| (name, form.text(name).trim().to_owned());
        let mut values: BTreeMap<_, _> = FIELDS.into_iter().map(text).collect();
        let device = values.get("device").map_or("", String::as_str);
        let chosen = DEVICES.iter().find(|(name, ..)| *name == device);
        if let Some((.., agent)) = chosen {
            values.insert("user_agent", (*agent).to_owned());
        } else if device == "own" {
            values.insert("user_agent", header_text(headers, header::USER_AGENT));
        }
        Self { values, marks: Marks::default() }
    }
}

fn header_text(headers: &HeaderMap, name: header::HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn devices(w: &SimulateWords) -> Vec<(&'static str, String)> {
    let named = |(name, called, _): (&'static str, &'static str, &'static str)| match name {
        "preview" => (name, w.preview_bot.to_owned()),
        "search" => (name, w.search_bot.to_owned()),
        _ => (name, called.to_owned()),
    };
    let own = ("own", w.device_own.to_owned());
    let other = ("other", w.device_other.to_owned());
    [own].into_iter().chain(DEVICES.map(named)).chain([other]).collect()
}

fn countries(w: &SimulateWords, language: Language) -> Vec<(&'static str, String)> {
    let named = |(code, name): (&'static str, &str)| (code, name.to_owned());
    let by_address = ("", w.country_own.to_owned());
    [by_address].into_iter().chain(names::countries(language).into_iter().map(named)).collect()
}

fn try_page(app: &App, visitor: &Visitor, subject: PlanPage, form: TryForm) -> TryPage {
    let words = visitor.words();
    let w = &words.simulate;
    let visits = [
        ("", w.visits_any),
        ("first", words.rules.first_visit),
        ("returning", words.rules.returning_visit),
    ];
    TryPage {
        page: Layout::new(app, visitor),
        title: fill(w.title, &subject.code),
        draft: None,
        form,
        general: None,
        devices: devices(w),
        countries: countries(w, visitor.language),
        visits: visits.map(|(value, name)| (value, name.to_owned())).to_vec(),
        result: None,
        was_sent: false,
        base: subject.base(),
        code: subject.code,
        place: subject.place,
    }
}

/// The visitor of a form. What is empty is not said.
fn visit(form: &TryForm, rules: Option<&Value>) -> Result<SimulatedVisit, AppError> {
    let said = |name: &str| Some(form.text(name).to_owned()).filter(|text| !text.is_empty());
    let refused = |_| FieldError::new("at", "simulate-invalid", "this is no time");
    Ok(SimulatedVisit {
        ip: said("ip"),
        country: said("country"),
        region: None,
        user_agent: said("user_agent"),
        language: said("language"),
        referrer: said("referrer"),
        query: said("query").map(|query| query.trim_start_matches('?').to_owned()),
        at: read_time(form.text("at")).map_err(refused)?,
        visitor: said("visitor"),
        rules: rules.and_then(|rules| PlanJson::parse(&rules.to_string()).ok()),
    })
}

/// Try the rules of the link, or those of a draft.
async fn run(
    app: &App,
    visitor: &Visitor,
    subject: &PlanPage,
    form: &TryForm,
    draft: Option<&Value>,
) -> Result<OutcomeView, AppError> {
    let tried = draft.unwrap_or(&subject.plan).get("rules");
    let visit = visit(form, draft.and(tried))?;
    let (caller, workspace) = (&visitor.caller, &subject.place.workspace);
    let outcome = app.simulate(caller, workspace, &subject.code, &visit).await?;
    let rules = tried.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names: Vec<String> = rules.iter().map(|rule| plain(rule.get("name"))).collect();
    Ok(OutcomeView::of(outcome, &names, visitor.language))
}

/// `GET /app/w/{workspace}/l/{code}/try`
pub(in crate::web) async fn page(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
    address: ClientAddress,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let form = TryForm::own(&headers, &address);
    let result = run(&app, &visitor, &subject, &form, None).await?;
    let shown = try_page(&app, &visitor, subject, form);
    Ok(page::show(&TryPage { result: Some(result), ..shown }))
}

/// `POST /app/w/{workspace}/l/{code}/try`: another visitor, or the rules that stand in the editor.
pub(in crate::web) async fn attempt(
    PageCall { app, visitor, path: (workspace, code), .. }: PageCall<(String, String)>,
    address: ClientAddress,
    headers: HeaderMap,
    sent: FormData,
) -> Result<Response, PageError> {
    let subject = PlanPage::enter(&app, &visitor, &workspace, code).await?;
    let words = visitor.words();
    let is_of_editor = sent.text("do") == "try";
    let has_draft = is_of_editor || sent.word("draft").is_some();
    let mut form = if is_of_editor {
        TryForm::own(&headers, &address)
    } else {
        TryForm::read(&sent, &headers)
    };
    let draft = if has_draft { Some(sent_draft(&sent, &visitor)) } else { None };
    let (draft, done) = match draft {
        Some(Err((text, fault))) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY.into();
            (Some(text), Err((status, Some(fault), Vec::new())))
        }
        draft => {
            let draft = draft.and_then(Result::ok);
            let done = match run(&app, &visitor, &subject, &form, draft.as_ref()).await {
                Ok(result) => Ok(result),
                Err(error) => {
                    let refusal = FormErrors::read(error, words)?;
                    let (status, general) = (refusal.status, refusal.general.clone());
                    Err((status, general, refusal.into_fields()))
                }
            };
            (draft.map(|draft| draft.to_string()), done)
        }
    };
    let (status, general, result) = match done {
        Ok(result) => (PageStatus::default(), None, Some(result)),
        Err((status, general, faults)) => {
            // What is wrong with the rules themselves is corrected in the editor.
            let own = |name: &str| FIELDS.contains(&name);
            let (own, rules): (Vec<_>, Vec<_>) =
                faults.into_iter().partition(|(name, _)| own(name));
            let said = rules.into_iter().map(|(name, text)| format!("{name}: {text}"));
            let said = general.into_iter().chain(said).collect::<Vec<_>>().join(" ");
            form.marks = Marks::of(own);
            (status, Some(said).filter(|said| !said.is_empty()), None)
        }
    };
    let shown = try_page(&app, &visitor, subject, form);
    let was_sent = result.is_some();
    Ok(page::show_with(status, &TryPage { draft, general, result, was_sent, ..shown }))
}
