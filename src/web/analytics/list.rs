//! The whole list behind "more": one dimension with search, order, pages, and the same as CSV.

use std::fmt::Write;

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use crate::app::{App, AppError, Resource};
use crate::web::analytics::cards::RowView;
use crate::web::analytics::controls::{Chip, Controls, chips};
use crate::web::analytics::dashboard::{DashboardView, PageHead};
use crate::web::analytics::filters::Asked;
use crate::web::analytics::names::{dimension_name, value_name};
use crate::web::analytics::questions::question;
use crate::web::analytics::subject::PageSubject;
use crate::web::form::FormData;
use crate::web::i18n::formats;
use crate::web::links::csv_cell::cell;
use crate::web::page::{self, Layout};
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Dimension, GroupReport, RowOrder, Zone,
};

/// Rows of a page, and of what is searched and of a file.
const PAGE: usize = 100;
const MOST: usize = 1000;

const ORDERS: [(&str, RowOrder); 4] = [
    ("clicks", RowOrder::Clicks),
    ("visitors", RowOrder::Visitors),
    ("change", RowOrder::Change),
    ("name", RowOrder::Name),
];

#[derive(Template)]
#[template(path = "analytics_list.html")]
struct ListPage {
    page: Layout,
    head: PageHead,
    asked: Asked,
    controls: Controls,
    chips: Vec<Chip>,
    unfiltered: String,
    back: String,
    title: &'static str,
    group: &'static str,
    q: String,
    order: &'static str,
    orders: Vec<(&'static str, &'static str)>,
    hidden: Vec<(&'static str, String)>,
    rows: Vec<RowView>,
    /// Whether there is a time to compare with.
    has_change: bool,
    rest: Option<String>,
    next: Option<String>,
    csv: String,
}

/// What the list was asked for beside the question.
struct ListAsked {
    dimension: Dimension,
    q: String,
    order: (&'static str, RowOrder),
    offset: usize,
}

impl ListAsked {
    fn read(query: &FormData, subject: &PageSubject) -> Result<Self, AppError> {
        let dimension = Dimension::parse(query.text("group"));
        let dimension = dimension.filter(|one| subject.shows(*one));
        let order = ORDERS.into_iter().find(|(name, _)| *name == query.text("order"));
        Ok(Self {
            dimension: dimension.ok_or(AppError::NotFound(Resource::Page))?,
            q: query.word("q").unwrap_or_default().chars().take(200).collect(),
            order: order.unwrap_or(("clicks", RowOrder::Clicks)),
            offset: query.text("offset").parse().unwrap_or(0),
        })
    }

    fn query(&self, base: AnalyticsQuery, limit: usize, offset: usize) -> AnalyticsQuery {
        AnalyticsQuery { groups: vec![self.dimension], order: self.order.1, limit, offset, ..base }
    }
}

/// The only group of a report.
fn only_group(report: &mut AnalyticsReport) -> Result<GroupReport, AppError> {
    report.groups.pop().ok_or(AppError::NotFound(Resource::Page))
}

/// `…/analytics/list`
pub(super) async fn page(
    app: &App,
    subject: &PageSubject,
    query: &FormData,
    view: &DashboardView<'_>,
    (layout, head): (Layout, PageHead),
) -> Result<Response, AppError> {
    let list = ListAsked::read(query, subject)?;
    let (limit, offset) = if list.q.is_empty() { (PAGE, list.offset) } else { (MOST, 0) };
    let asked = list.query(question(app, subject, view.asked).await?, limit, offset);
    let mut report = subject.ask(app, &asked).await?;
    let mut group = only_group(&mut report)?;
    let is_full = group.rows.len() >= limit;
    if !list.q.is_empty() {
        search(&mut group, &list, view);
    }
    Ok(page::show(&list_page(&report, &group, &list, view, (layout, head), is_full)))
}

/// Keep the rows whose name or value has the text.
fn search(group: &mut GroupReport, list: &ListAsked, view: &DashboardView<'_>) {
    let q = list.q.to_lowercase();
    group.rows.retain(|row| {
        let name = value_name(list.dimension, &row.value, view.language, view.words);
        name.to_lowercase().contains(&q) || row.value.to_lowercase().contains(&q)
    });
    (group.unknown_clicks, group.private_clicks) = (0, 0);
}

fn list_page(
    report: &AnalyticsReport,
    group: &GroupReport,
    list: &ListAsked,
    view: &DashboardView<'_>,
    (layout, head): (Layout, PageHead),
    is_full: bool,
) -> ListPage {
    let (asked, w) = (view.asked, &view.words.analytics);
    let name = list.dimension.name();
    let more = [("group", name), ("order", list.order.0)];
    let next = (list.offset + PAGE).to_string();
    let has_next = list.q.is_empty() && is_full && group.rest_values > 0;
    let zone = Zone::find(&report.zone).unwrap_or_else(Zone::utc);
    let mut controls = Controls::new(asked, w, view.days(report, &zone));
    controls.stay_in_list(&more);
    let rest = (group.rest_values > 0).then(|| {
        let values = formats::number(view.language, group.rest_values);
        let clicks = formats::number(view.language, group.rest_clicks);
        format!("{}: {clicks}", crate::web::i18n::fill(w.rest, values))
    });
    let orders =
        [("clicks", w.clicks), ("visitors", w.visitors), ("change", w.change), ("name", w.name)];
    ListPage {
        controls,
        chips: chips(asked, view.language, view.words)
            .into_iter()
            .map(|chip| chip.stay_in_list(&more))
            .collect(),
        unfiltered: asked.with(|asked| asked.filters.clear()).href_with("", &more),
        back: asked.href_with(&head.base, &[]),
        title: dimension_name(w, list.dimension),
        group: name,
        q: list.q.clone(),
        order: list.order.0,
        orders: orders.into(),
        hidden: asked.hidden_fields(&[]),
        rows: view.style().rows(group, &head.base),
        has_change: report.before.is_some(),
        rest,
        next: has_next.then(|| {
            asked.href_with("", &[("group", name), ("order", list.order.0), ("offset", &next)])
        }),
        csv: asked.href_with(&format!("{}/list.csv", head.base), &more),
        asked: asked.clone(),
        page: layout,
        head,
    }
}

/// `…/analytics/list.csv`
pub(super) async fn csv(
    app: &App,
    subject: &PageSubject,
    query: &FormData,
    asked: &Asked,
) -> Result<Response, AppError> {
    let list = ListAsked::read(query, subject)?;
    let query = list.query(question(app, subject, asked).await?, MOST, 0);
    let mut report = subject.ask(app, &query).await?;
    let group = only_group(&mut report)?;
    let name = list.dimension.name();
    let file = format!("attachment; filename=\"analytics-{name}.csv\"");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8")),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::try_from(file).unwrap_or(HeaderValue::from_static("attachment")),
        ),
    ];
    Ok((headers, csv_text(&group)).into_response())
}

/// The lines of a file: the stored values, which are the same in every language.
fn csv_text(group: &GroupReport) -> String {
    let mut text = format!("{},clicks,visitors,clicks_before\r\n", group.dimension.name());
    for row in &group.rows {
        let before = row.before.map(|before| before.to_string()).unwrap_or_default();
        let (value, clicks, visitors) = (cell(&row.value), row.clicks, row.visitors);
        write!(text, "{value},{clicks},{visitors},{before}\r\n")
            .expect("a string takes everything");
    }
    for (name, clicks) in [
        ("(other)", group.rest_clicks),
        ("(unknown)", group.unknown_clicks),
        ("(private)", group.private_clicks),
    ] {
        if clicks > 0 {
            write!(text, "\"{name}\",{clicks},,\r\n").expect("a string takes everything");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::sample::group;
    use kurz_core::analytics::TextColumn;

    #[test]
    fn a_file_has_all_values_and_none_is_a_formula() {
        let group = group(Dimension::Text(TextColumn::Referrer), &[("t.co", 10), ("=cmd()", 4)]);
        let text = csv_text(&group);
        let lines: Vec<_> = text.split("\r\n").collect();
        assert_eq!(
            lines,
            [
                "referrer,clicks,visitors,clicks_before",
                "\"t.co\",10,5,5",
                "\"'=cmd()\",4,2,2",
                "\"(unknown)\",50,,",
                "\"(private)\",13,,",
                "",
            ]
        );
    }
}
