//! `…/analytics/live`: the clicks of the last 30 minutes, minute by minute, and the last of them. The page is made anew
//! when it is asked for, every 15 seconds by the browser itself if one wants it, and with a script whenever there is
//! something new: see `live_stream`.

use std::time::Duration;

use askama::Template;
use axum::response::Response;

use crate::app::{App, AppError, LiveSums, ShownEvent};
use crate::web::analytics::cards::{CardSpec, CardView, ROWS};
use crate::web::analytics::chart::{scaled, thousandths};
use crate::web::analytics::dashboard::{DashboardView, PageHead};
use crate::web::analytics::names::value_name;
use crate::web::analytics::questions::question;
use crate::web::analytics::subject::PageSubject;
use crate::web::i18n::{fill, formats};
use crate::web::page::{self, Layout};
use kurz_core::analytics::{
    AnalyticsQuery, Comparison, Dimension, Interval, TextColumn, TimeRange, Zone,
};

const HALF_AN_HOUR: Duration = Duration::from_mins(30);
/// Clocks of other instances may be ahead by that much.
const AHEAD: Duration = Duration::from_secs(5);
/// Clicks that are shown one by one.
const LAST: usize = 10;
/// The height of the bars in pixels.
const TALL: u64 = 72;

const CARDS: [(&str, Dimension); 4] = [
    ("links", Dimension::Link),
    ("sources", Dimension::Text(TextColumn::Referrer)),
    ("places", Dimension::Text(TextColumn::Country)),
    ("devices", Dimension::Text(TextColumn::Device)),
];
/// What is shown of a click beside its time and link.
const COLUMNS: [TextColumn; 4] =
    [TextColumn::Country, TextColumn::Referrer, TextColumn::Device, TextColumn::Browser];

#[derive(Template)]
#[template(path = "analytics_live.html")]
struct LivePage {
    page: Layout,
    head: PageHead,
    clicks: String,
    visitors: String,
    /// When it was made, in the zone that was chosen.
    at: String,
    zone: String,
    minutes: Vec<MinuteBar>,
    /// How long ago the first minute was.
    oldest: String,
    tall: u64,
    last: Vec<ClickLine>,
    cards: Vec<CardView>,
    back: String,
    here: String,
    refreshing: String,
    is_refreshing: bool,
    /// Where the script hears of clicks.
    stream: Option<String>,
}

struct MinuteBar {
    x: String,
    width: String,
    y: u64,
    height: u64,
    title: String,
}

/// A click in one line.
struct ClickLine {
    at: String,
    link: String,
    about: String,
}

pub(super) async fn page(
    app: &App,
    subject: &PageSubject,
    view: &DashboardView<'_>,
    (layout, head): (Layout, PageHead),
    is_refreshing: bool,
) -> Result<Response, AppError> {
    let now = app.now();
    let base = question(app, subject, view.asked).await?;
    let specs: Vec<CardSpec> = CARDS
        .into_iter()
        .filter(|(_, dimension)| subject.shows(*dimension))
        .map(|(id, dimension)| CardSpec { id, dimensions: vec![dimension], everybody: false })
        .collect();
    let query = AnalyticsQuery {
        range: TimeRange { from: now.minus(HALF_AN_HOUR), to: now.plus(AHEAD) },
        interval: Interval::Hour,
        groups: specs.iter().flat_map(|card| card.dimensions.clone()).collect(),
        limit: ROWS,
        compare: Comparison::None,
        ..base
    };
    let report = subject.ask(app, &query).await?;
    let sums = subject.live_sums(app, &query).await?;
    let newest = subject.last_clicks(app, &query, LAST).await?;
    let zone = Zone::find(&report.zone).unwrap_or_else(Zone::utc);
    let list = format!("{}/list", head.base);
    let today = view.asked.days("24h", "");
    let style = DashboardView { asked: &today, ..*view };
    let cards = specs.iter().filter_map(|card| style.style().card(card, &report.groups, &list));
    let cards = cards.map(|card| card.at(&head.base)).collect();
    let live = format!("{}/live", head.base);
    let stream = format!("{}/stream", head.base);
    Ok(page::show(&LivePage {
        clicks: formats::number(view.language, report.total.clicks),
        visitors: formats::number(view.language, report.total.visitors),
        at: formats::time_of_day(zone.local(now)),
        zone: report.zone,
        minutes: minutes(&sums, view),
        oldest: fill(view.words.analytics.minutes_ago, HALF_AN_HOUR.as_secs() / 60),
        tall: TALL,
        last: newest.iter().map(|click| line(click, subject, view, &zone)).collect(),
        cards,
        back: view.asked.href_with(&head.base, &[]),
        here: view.asked.href_with(&live, &[]),
        refreshing: view.asked.href_with(&live, &[("auto", "1")]),
        is_refreshing,
        stream: (!head.is_shared).then(|| view.asked.href_with(&stream, &[])),
        page: layout,
        head,
    }))
}

/// A bar for each minute, the running one last.
fn minutes(sums: &LiveSums, view: &DashboardView<'_>) -> Vec<MinuteBar> {
    let w = &view.words.analytics;
    let highest = sums.minutes.iter().map(|minute| minute.clicks).max().unwrap_or(0).max(1);
    let count = u64::try_from(sums.minutes.len()).unwrap_or(1).max(1);
    let step = 100_000 / count;
    let bar = |(minute, at): (&kurz_core::analytics::Sums, u64)| {
        let height = scaled(minute.clicks, TALL, highest).max(u64::from(minute.clicks > 0) * 2);
        let ago = fill(w.minutes_ago, (count - 1 - at).to_string());
        MinuteBar {
            x: thousandths(at * step),
            width: thousandths(step * 4 / 5),
            y: TALL - height,
            height,
            title: format!("{ago}: {} {}", formats::number(view.language, minute.clicks), w.clicks),
        }
    };
    sums.minutes.iter().zip(0..).map(bar).collect()
}

fn line(
    click: &ShownEvent,
    subject: &PageSubject,
    view: &DashboardView<'_>,
    zone: &Zone,
) -> ClickLine {
    let about = |column: TextColumn| {
        let dimension = Dimension::Text(column);
        let (_, text) = click.texts.iter().find(|(one, _)| *one == column)?;
        let is_shown = subject.shows(dimension) && !text.is_empty();
        is_shown.then(|| value_name(dimension, text, view.language, view.words))
    };
    let at = zone.local(click.at);
    ClickLine {
        at: format!("{}:{:02}", formats::time_of_day(at), click.at.as_ms() / 1000 % 60),
        link: click.link.clone(),
        about: COLUMNS.into_iter().filter_map(about).collect::<Vec<_>>().join(" · "),
    }
}
