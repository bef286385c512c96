//! `/app/report`: a visitor says that a link should not be; and `/app/admin/reports`, where those who
//! administer the server look into it. The first is on every host, since links are.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::Uri;

use crate::app::{App, MOST_WORDS, ReportRequest, ReportedLink};
use crate::web::failure::{Failure, Refusal};
use crate::web::form::Form;
use crate::web::links::disable::reason;
use crate::web::page::{self, Note, Page};
use crate::web::visitor::{Member, Visitor};
use crate::web::words::Words;
use kurz_core::code::{Canonical, canonicalise};
use kurz_core::link::Reason;

/// Where it is: on the hosts of workspaces as well.
pub(super) const PATH: &str = "/app/report";

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage {
    page: Page,
    request: ReportRequest,
    reasons: Vec<(&'static str, &'static str)>,
    refusal: Refusal,
    most_words: usize,
}

/// `GET /app/report`
pub(super) async fn form_page(State(app): State<Arc<App>>, visitor: Visitor, uri: Uri) -> Response {
    let query = Form::parse(uri.query().unwrap_or_default().as_bytes());
    let words = visitor.language.words();
    let thanks = query.word("note") == Some("thanks");
    let note = thanks.then(|| Note::plain(words.abuse.thanks));
    let request =
        ReportRequest { address: query.text("link").to_owned(), ..ReportRequest::default() };
    let page = Page::new(&app, &visitor).noting(note);
    page::show(&report_page(page, request, Refusal::default()))
}

/// `POST /app/report`
pub(super) async fn report(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, Failure> {
    let request = ReportRequest {
        address: form.text("address").to_owned(),
        reason: form.text("reason").to_owned(),
        words: form.text("words").to_owned(),
    };
    match app.report(&visitor.caller, &request).await {
        Ok(()) => Ok(Redirect::to("/app/report?note=thanks").into_response()),
        Err(error) => {
            let refusal = Refusal::read(error, visitor.language.words())?;
            let page = Page::new(&app, &visitor);
            Ok(page::show_with(refusal.status, &report_page(page, request, refusal)))
        }
    }
}

fn report_page(page: Page, request: ReportRequest, refusal: Refusal) -> ReportPage {
    let words = page.words;
    let named = |one: Reason| (one.as_str(), reason(words, one));
    let reasons = Reason::CHOICES.map(named).to_vec();
    ReportPage { page, request, reasons, refusal, most_words: MOST_WORDS }
}

#[derive(Template)]
#[template(path = "reports.html")]
struct QueuePage {
    page: Page,
    open: String,
    links: Vec<Row>,
    reasons: Vec<(&'static str, &'static str)>,
}

struct Row {
    workspace: String,
    code: String,
    short_url: String,
    /// In punycode: what looks like another host is to be seen.
    target: String,
    is_lookalike: bool,
    count: String,
    first: String,
    last: String,
    is_disabled: bool,
    reports: Vec<Said>,
}

struct Said {
    at: String,
    reason: String,
    words: String,
}

/// `GET /app/admin/reports`
pub(super) async fn queue(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
) -> Result<Response, Failure> {
    let words = visitor.language.words();
    let queue = app.report_queue(&visitor.caller).await?;
    let named = |one: Reason| (one.as_str(), reason(words, one));
    Ok(page::show(&QueuePage {
        page: Page::new(&app, &visitor),
        open: page::number(queue.open),
        links: queue.links.into_iter().map(|one| row(one, words)).collect(),
        reasons: Reason::CHOICES.map(named).to_vec(),
    }))
}

fn row(reported: ReportedLink, words: &'static Words) -> Row {
    let is_lookalike = reported.shown.is_lookalike;
    let link = reported.shown.link;
    let target = canonicalise(&link.target).map_or(link.target, Canonical::into_string);
    let said = reported.reports.into_iter().map(|report| Said {
        at: page::time(report.at),
        reason: report.reason.parse().map_or(report.reason, |one| reason(words, one).to_owned()),
        words: report.words,
    });
    Row {
        workspace: link.workspace.to_string(),
        code: link.code.to_string(),
        short_url: reported.shown.short_url,
        target,
        is_lookalike,
        count: page::number(reported.count),
        first: page::time(reported.first_at),
        last: page::time(reported.last_at),
        is_disabled: link.disabled.is_some(),
        reports: said.collect(),
    }
}

/// `POST /app/admin/reports`: there is nothing to it, or the link is disabled.
pub(super) async fn settle(
    State(app): State<Arc<App>>,
    Member(visitor): Member,
    form: Form,
) -> Result<Response, Failure> {
    let workspace = App::workspace_id(form.text("workspace"))?;
    let code = form.text("code");
    if form.text("action") == "disable" {
        let reason = form.text("reason");
        app.disable_link(&visitor.caller, &workspace, code, reason, None).await?;
    } else {
        app.dismiss_reports(&visitor.caller, &workspace, code).await?;
    }
    Ok(Redirect::to("/app/admin/reports").into_response())
}
