//! `/app/report`: the form with which a visitor reports a link. It is on every host, since links are.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::Uri;

use crate::app::{App, MOST_WORDS, ReportRequest};
use crate::link::Reason;
use crate::web::failure::{Failure, Refusal};
use crate::web::form::Form;
use crate::web::links::disable::reason;
use crate::web::page::{self, Note, Page};
use crate::web::visitor::Visitor;

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
    let words = visitor.words();
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
            let refusal = Refusal::read(error, visitor.words())?;
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
