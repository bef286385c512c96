//! The map: as a picture in the card of places, and on a page of its own where every country is a link.

use askama::Template;
use axum::response::Response;

use crate::app::{App, AppError, Resource};
use crate::web::analytics::cards::RowView;
use crate::web::analytics::controls::{Chip, Controls, chips};
use crate::web::analytics::dashboard::{DashboardView, PageHead};
use crate::web::analytics::filters::Asked;
use crate::web::analytics::map::{LegendStep, legend, svg};
use crate::web::analytics::questions::question;
use crate::web::analytics::subject::PageSubject;
use crate::web::page::{self, Layout};
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Comparison, Dimension, GroupReport, TextColumn, Zone,
};

/// More than there are countries.
const COUNTRIES: usize = 300;

#[derive(Template)]
#[template(path = "analytics_map.html")]
struct MapPage {
    page: Layout,
    head: PageHead,
    asked: Asked,
    controls: Controls,
    chips: Vec<Chip>,
    unfiltered: String,
    back: String,
    svg: String,
    legend: Vec<LegendStep>,
    rows: Vec<RowView>,
}

async fn countries(
    app: &App,
    subject: &PageSubject,
    asked: &Asked,
) -> Result<(AnalyticsReport, GroupReport), AppError> {
    let country = Dimension::Text(TextColumn::Country);
    if !subject.shows(country) {
        return Err(AppError::NotFound(Resource::Page));
    }
    let base = question(app, subject, asked).await?;
    let query = AnalyticsQuery {
        groups: vec![country],
        limit: COUNTRIES,
        compare: Comparison::None,
        ..base
    };
    let mut report = subject.ask(app, &query).await?;
    let group = report.groups.pop().ok_or(AppError::NotFound(Resource::Page))?;
    Ok((report, group))
}

/// `…/analytics/map.svg`. The script puts it into the page without a style of its own, which the page forbids.
pub(super) async fn picture(
    app: &App,
    subject: &PageSubject,
    view: &DashboardView<'_>,
    base: &str,
    as_picture: bool,
) -> Result<String, AppError> {
    let (_, group) = countries(app, subject, view.asked).await?;
    Ok(svg(&group, view.asked, base, view.language, as_picture))
}

/// `…/analytics/map`
pub(super) async fn page(
    app: &App,
    subject: &PageSubject,
    view: &DashboardView<'_>,
    (layout, head): (Layout, PageHead),
) -> Result<Response, AppError> {
    let (report, group) = countries(app, subject, view.asked).await?;
    let asked = view.asked;
    let zone = Zone::find(&report.zone).unwrap_or_else(Zone::utc);
    Ok(page::show(&MapPage {
        controls: Controls::new(asked, &view.words.analytics, view.days(&report, &zone)),
        chips: chips(asked, view.language, view.words),
        unfiltered: asked.with(|asked| asked.filters.clear()).href(),
        back: asked.href_with(&head.base, &[]),
        svg: svg(&group, asked, &head.base, view.language, false),
        legend: legend(&group, view.language),
        rows: view.style().rows(&group, &head.base),
        asked: asked.clone(),
        page: layout,
        head,
    }))
}
