//! Addresses on the workspace's own hosts that lead to no link: a card of the dashboard, the whole list behind it, and the
//! same as CSV. Nothing but their number is known of such requests, so filters leave them out.

use std::fmt::Write;

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use crate::app::{App, AppError, Resource};
use crate::web::analytics::cards::{CardView, ROWS, RowStyle};
use crate::web::analytics::controls::{Chip, Controls, chips};
use crate::web::analytics::dashboard::{DashboardView, PageHead};
use crate::web::analytics::filters::Asked;
use crate::web::analytics::questions::question;
use crate::web::analytics::subject::PageSubject;
use crate::web::i18n::fill;
use crate::web::i18n::formats;
use crate::web::links::csv_cell::cell;
use crate::web::page::{self, Layout};
use kurz_core::analytics::AnalyticsQuery;
use kurz_core::analytics::orphans::OrphanReport;

/// Rows of the list and of a file.
const MOST: usize = 1_000;

#[derive(Template)]
#[template(path = "analytics_orphans.html")]
struct OrphansPage {
    page: Layout,
    head: PageHead,
    asked: Asked,
    controls: Controls,
    chips: Vec<Chip>,
    unfiltered: String,
    back: String,
    card: CardView,
    csv: String,
}

/// The card; `None` when every address led somewhere.
pub(super) fn card(report: &OrphanReport, style: &RowStyle<'_>, base: &str) -> Option<CardView> {
    let w = &style.words.analytics;
    let first = report.rows.first()?;
    let highest = first.misses.max(1);
    // What tells rows apart comes first: a phone shows the beginning of a name.
    let has_one_host = report.rows.iter().all(|row| row.host == first.host);
    let rows = report.rows.iter().map(|row| {
        let name =
            if has_one_host { row.path.clone() } else { format!("{} ({})", row.path, row.host) };
        style.counted_row(name, row.misses, (highest, report.total))
    });
    let rest = (report.rest > 0).then(|| {
        let misses = formats::number(style.language, report.rest);
        fill(w.orphans_rest, misses)
    });
    Some(CardView {
        id: "orphans",
        title: w.orphans,
        head: w.address,
        unit: w.misses,
        tabs: Vec::new(),
        rows: rows.collect(),
        rest,
        more: style.asked.href_with(&format!("{base}/orphans"), &[]),
        hint: None,
    })
}

/// Those of the dashboard; nothing where filters are set.
pub(super) async fn of_dashboard(
    app: &App,
    subject: &PageSubject,
    base: &AnalyticsQuery,
) -> Result<OrphanReport, AppError> {
    if !base.filters.is_empty() {
        return Ok(OrphanReport::default());
    }
    let report = subject.orphans(app, &AnalyticsQuery { limit: ROWS, ..base.clone() }).await?;
    Ok(report.unwrap_or_default())
}

async fn all(app: &App, subject: &PageSubject, asked: &Asked) -> Result<OrphanReport, AppError> {
    let query = AnalyticsQuery { limit: MOST, ..question(app, subject, asked).await? };
    subject.orphans(app, &query).await?.ok_or(AppError::NotFound(Resource::Page))
}

/// `…/analytics/orphans`
pub(super) async fn page(
    app: &App,
    subject: &PageSubject,
    view: &DashboardView<'_>,
    (layout, head): (Layout, PageHead),
) -> Result<Response, AppError> {
    // Other filters than the time would promise more than is known.
    let asked = view.asked.with(|asked| asked.filters.clear());
    let report = all(app, subject, &asked).await?;
    let view = DashboardView { asked: &asked, ..*view };
    let w = &view.words.analytics;
    let card = card(&report, &view.style(), &head.base)
        .unwrap_or_else(|| CardView::empty("orphans", w.orphans, w.address, w.misses));
    let days = (asked.from.clone(), asked.until.clone());
    Ok(page::show(&OrphansPage {
        controls: Controls::new(&asked, w, days),
        chips: chips(&asked, view.language, view.words),
        unfiltered: asked.href(),
        back: asked.href_with(&head.base, &[]),
        csv: asked.href_with(&format!("{}/orphans.csv", head.base), &[]),
        card,
        asked,
        page: layout,
        head,
    }))
}

/// `…/analytics/orphans.csv`
pub(super) async fn csv(
    app: &App,
    subject: &PageSubject,
    asked: &Asked,
) -> Result<Response, AppError> {
    let report = all(app, subject, &asked.with(|asked| asked.filters.clear())).await?;
    let mut text = "host,path,misses\r\n".to_owned();
    for row in &report.rows {
        let _ = write!(text, "{},{},{}\r\n", cell(&row.host), cell(&row.path), row.misses);
    }
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_static("attachment; filename=\"analytics-orphans.csv\""),
        ),
    ];
    Ok((headers, text).into_response())
}
