//! `/app/report`: the form with which a visitor reports a link. It is on every host, since links are.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{MOST_WORDS, ReportRequest};
use crate::web::errors::{FormErrors, PageError};
use crate::web::form::FormData;
use crate::web::links::disable::reason;
use crate::web::page::{self, Layout, Note};
use crate::web::visitor::PublicCall;
use kurz_core::link::Reason;

/// Where it is: on the hosts of workspaces as well.
pub(super) const PATH: &str = "/app/report";

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage {
    page: Layout,
    request: ReportRequest,
    reasons: Vec<(&'static str, &'static str)>,
    refusal: FormErrors,
    most_words: usize,
}

/// `GET /app/report`
pub(super) async fn form_page(PublicCall { app, visitor, query }: PublicCall) -> Response {
    let words = visitor.words();
    let thanks = query.word("note") == Some("thanks");
    let note = thanks.then(|| Note::plain(words.abuse.thanks));
    let request =
        ReportRequest { address: query.text("link").to_owned(), ..ReportRequest::default() };
    let page = Layout::new(&app, &visitor).noting(note);
    page::show(&report_page(page, request, FormErrors::default()))
}

/// `POST /app/report`
pub(super) async fn report(
    PublicCall { app, visitor, .. }: PublicCall,
    form: FormData,
) -> Result<Response, PageError> {
    let request = ReportRequest {
        address: form.text("address").to_owned(),
        reason: form.text("reason").to_owned(),
        words: form.text("words").to_owned(),
    };
    match app.report(&visitor.caller, &request).await {
        Ok(()) => Ok(Redirect::to("/app/report?note=thanks").into_response()),
        Err(error) => {
            let refusal = FormErrors::read(error, visitor.words())?;
            let page = Layout::new(&app, &visitor);
            Ok(page::show_with(refusal.status, &report_page(page, request, refusal)))
        }
    }
}

fn report_page(page: Layout, request: ReportRequest, refusal: FormErrors) -> ReportPage {
    let words = page.words;
    let named = |one: Reason| (one.as_str(), reason(words, one));
    let reasons = Reason::CHOICES.map(named).to_vec();
    ReportPage { page, request, reasons, refusal, most_words: MOST_WORDS }
}
