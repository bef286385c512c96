//! `/app/admin/reports`: the reports of visitors, and what an administrator does about them.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::{App, ReportedLink};
use crate::web::errors::PageError;
use crate::web::form::FormData;
use crate::web::i18n::Words;
use crate::web::links::disable::reason;
use crate::web::page::{self, Layout};
use crate::web::visitor::PageCall;
use kurz_core::code::{Canonical, canonicalise};
use kurz_core::link::Reason;

#[derive(Template)]
#[template(path = "reports.html")]
struct QueuePage {
    page: Layout,
    open: String,
    links: Vec<ReportedLinkRow>,
    reasons: Vec<(&'static str, &'static str)>,
}

struct ReportedLinkRow {
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
    reports: Vec<ReportRow>,
}

struct ReportRow {
    at: String,
    reason: String,
    words: String,
}

/// `GET /app/admin/reports`
pub(in crate::web) async fn queue(
    PageCall { app, visitor, .. }: PageCall,
) -> Result<Response, PageError> {
    let words = visitor.words();
    let queue = app.report_queue(&visitor.caller).await?;
    let named = |one: Reason| (one.as_str(), reason(words, one));
    Ok(page::show(&QueuePage {
        page: Layout::new(&app, &visitor),
        open: page::number(queue.open),
        links: queue.links.into_iter().map(|one| row(one, words)).collect(),
        reasons: Reason::CHOICES.map(named).to_vec(),
    }))
}

fn row(reported: ReportedLink, words: &'static Words) -> ReportedLinkRow {
    let is_lookalike = reported.shown.is_lookalike;
    let link = reported.shown.link;
    let target = canonicalise(&link.target).map_or(link.target, Canonical::into_string);
    let said = reported.reports.into_iter().map(|report| ReportRow {
        at: page::time(report.at),
        reason: report.reason.parse().map_or(report.reason, |one| reason(words, one).to_owned()),
        words: report.words,
    });
    ReportedLinkRow {
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
pub(in crate::web) async fn settle(
    PageCall { app, visitor, .. }: PageCall,
    form: FormData,
) -> Result<Response, PageError> {
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
