//! The dashboard: one renderer for a workspace, a link, and what is shared of them. It takes reports and makes a page;
//! it asks for nothing itself.

use askama::Template;

use crate::language::Language;
use crate::web::analytics::cards::{CardSpec, CardView, RARE, RowStyle};
use crate::web::analytics::chart::{ChartView, Drawing};
use crate::web::analytics::controls::{Chip, Controls, chips};
use crate::web::analytics::figures::{FigureView, figures, measure_name};
use crate::web::analytics::filters::Asked;
use crate::web::analytics::heatmap::HeatmapView;
use crate::web::analytics::news::{NewsLine, news};
use crate::web::analytics::orphans;
use crate::web::i18n::formats;
use crate::web::i18n::{Words, fill};
use crate::web::links::WorkspaceView;
use crate::web::page::Layout;
use kurz_core::analytics::orphans::OrphanReport;
use kurz_core::analytics::{AnalyticsReport, Dimension, GroupReport, TextColumn, Zone};
use kurz_core::time::Timestamp;

/// What stands above the dashboard, and where its parts are.
#[derive(Debug)]
pub(super) struct PageHead {
    pub(super) title: String,
    /// The page of what it is about: address and name.
    pub(super) crumb: Option<(String, String)>,
    /// The header of a workspace's pages.
    pub(super) place: Option<WorkspaceView>,
    /// The path of the dashboard.
    pub(super) base: String,
    pub(super) is_shared: bool,
    /// Whether search engines may list it.
    pub(super) may_index: bool,
    /// The only time that may be shown.
    pub(super) range: Option<String>,
    /// Where it is shared.
    pub(super) settings: Option<String>,
}

/// The answers that a dashboard is made of.
#[derive(Debug)]
pub(super) struct DashboardReports {
    pub(super) main: AnalyticsReport,
    /// The groups of the cards, where they count something else than the rest of the page.
    pub(super) cards: Option<AnalyticsReport>,
    /// By the hour.
    pub(super) hours: Option<AnalyticsReport>,
    /// Today, then the same weekdays of the weeks before.
    pub(super) days: Vec<AnalyticsReport>,
    /// Addresses that lead nowhere.
    pub(super) orphans: OrphanReport,
}

#[derive(Template)]
#[template(path = "analytics.html")]
pub(super) struct DashboardPage {
    pub(super) page: Layout,
    pub(super) head: PageHead,
    pub(super) asked: Asked,
    controls: Controls,
    chips: Vec<Chip>,
    unfiltered: String,
    figures: Vec<FigureView>,
    notes: Vec<String>,
    /// `None` when there was nothing in this time.
    chart: Option<ChartView>,
    chart_text: String,
    unit: &'static str,
    span: String,
    cards: Vec<CardView>,
    /// Where the map is: as a picture, and on a page of its own.
    map_picture: String,
    map_inline: String,
    /// Whether countries may be shown.
    has_countries: bool,
    map_page: String,
    hours: Option<HeatmapView>,
    hours_text: String,
    news: Vec<NewsLine>,
    /// The page of the clicks of now.
    live: Option<String>,
}

/// Who looks at what.
#[derive(Clone, Copy, Debug)]
pub(super) struct DashboardView<'a> {
    pub(super) asked: &'a Asked,
    pub(super) language: Language,
    pub(super) words: &'static Words,
    pub(super) specs: &'a [CardSpec],
}

impl DashboardView<'_> {
    pub(super) fn style(&self) -> RowStyle<'_> {
        RowStyle { asked: self.asked, language: self.language, words: self.words }
    }

    pub(super) fn page(
        &self,
        page: Layout,
        head: PageHead,
        reports: &DashboardReports,
    ) -> DashboardPage {
        let DashboardReports { main, cards, hours, days, orphans } = reports;
        let (asked, w) = (self.asked, &self.words.analytics);
        let zone = Zone::find(&main.zone).unwrap_or_else(Zone::utc);
        let style = self.style();
        let list = format!("{}/list", head.base);
        let unit = measure_name(w, asked.measure);
        let (language, is_fixed) = (self.language, head.range.is_some());
        let how = Drawing { asked, zone: &zone, language, unit, before: w.before, is_fixed };
        let is_empty = main.total == kurz_core::analytics::Sums::default();
        let card = |spec: &CardSpec| {
            let source = cards.as_ref().filter(|_| !spec.everybody).unwrap_or(main);
            style.card(&with_values(spec, asked, &main.groups), &source.groups, &list)
        };
        let (today, before) = match days.split_first() {
            Some((today, before)) => (Some(today), before),
            None => (None, &[][..]),
        };
        let hours = hours.as_ref().and_then(|hours| HeatmapView::draw(hours, &zone, self.language));
        DashboardPage {
            controls: Controls::new(asked, w, self.days(main, &zone)),
            chips: chips(asked, self.language, self.words),
            unfiltered: asked.with(|asked| asked.filters.clear()).href(),
            figures: figures(main, asked, self.language, w),
            notes: self.notes(main),
            chart: (!is_empty).then(|| ChartView::draw(main, &how)),
            chart_text: fill(w.chart, unit),
            unit,
            span: self.span(main, &zone),
            cards: self
                .specs
                .iter()
                .filter_map(card)
                .chain(orphans::card(orphans, &style, &head.base))
                .collect(),
            map_picture: asked.href_with(&format!("{}/map.svg", head.base), &[]),
            has_countries: self
                .specs
                .iter()
                .any(|card| card.dimensions.contains(&Dimension::Text(TextColumn::Country))),
            map_inline: asked.href_with(&format!("{}/map.svg", head.base), &[("inline", "1")]),
            map_page: asked.href_with(&format!("{}/map", head.base), &[]),
            hours,
            hours_text: fill(w.hours_text, &main.zone),
            news: today.map(|today| news(today, before, &style)).unwrap_or_default(),
            live: head
                .range
                .is_none()
                .then(|| asked.href_with(&format!("{}/live", head.base), &[])),
            asked: asked.clone(),
            page,
            head,
        }
    }

    /// The first and the last day, for the fields of the form.
    pub(super) fn days(&self, report: &AnalyticsReport, zone: &Zone) -> (String, String) {
        if !self.asked.is_preset() {
            return (self.asked.from.clone(), self.asked.until.clone());
        }
        let last = Timestamp::from_ms(report.range.to.as_ms() - 1);
        (zone.local(report.range.from).date(), zone.local(last).date())
    }

    /// The time that is shown, in words.
    fn span(&self, report: &AnalyticsReport, zone: &Zone) -> String {
        let first = zone.local(report.range.from);
        let last = zone.local(Timestamp::from_ms(report.range.to.as_ms() - 1));
        let [first, last] = [first, last].map(|at| formats::full_day(self.language, at));
        if first == last { first } else { format!("{first} – {last}") }
    }

    fn notes(&self, report: &AnalyticsReport) -> Vec<String> {
        let w = &self.words.analytics;
        let mut notes = Vec::new();
        // Shares below a tenth of a percent are not worth a sentence.
        if report.detail_share < 0.999 {
            let missing = format!("{:.0}", (1.0 - report.detail_share) * 1000.0);
            let missing = missing.parse().unwrap_or_default();
            notes.push(fill(w.detail_missing, formats::percent(self.language, missing)));
        }
        if !report.exact {
            notes.push(w.sums_only.to_owned());
        }
        notes
    }
}

/// A card without tabs that few workspaces have a use for, unless there is something behind them.
fn with_values(spec: &CardSpec, asked: &Asked, groups: &[GroupReport]) -> CardSpec {
    let has_rows = |dimension: &Dimension| {
        groups.iter().any(|group| group.dimension == *dimension && !group.rows.is_empty())
    };
    let is_shown = |dimension: &Dimension| {
        !RARE.contains(dimension) || asked.show.contains(dimension) || has_rows(dimension)
    };
    let dimensions = spec.dimensions.iter().copied().filter(is_shown).collect();
    CardSpec { dimensions, ..spec.clone() }
}

impl DashboardPage {
    /// Whether the chart shows a time to compare with.
    fn has_before(&self) -> bool {
        self.chart.as_ref().is_some_and(|chart| chart.before.is_some())
    }

    fn shows_map(&self, card: &CardView) -> bool {
        let shows_countries = self.has_countries && !card.rows.is_empty();
        card.id == "places" && shows_countries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::cards::{PageScope, ROWS, specs};
    use crate::web::analytics::sample::{group, report_of_days, report_of_hours};

    fn page(asked: &Asked, values: &[(&str, u64)]) -> String {
        let specs = specs(PageScope::Workspace, |_| true);
        let shown = specs.iter().filter_map(|card| asked.shown(&card.dimensions));
        let mut main = report_of_days(30);
        main.groups = shown.map(|one| group(one, values)).collect();
        let words = Words::of(Language::English);
        let view = DashboardView { asked, language: Language::English, words, specs: &specs };
        let head = PageHead {
            title: "Workspace acme".to_owned(),
            crumb: None,
            place: None,
            base: "/app/w/acme/analytics".to_owned(),
            is_shared: false,
            may_index: false,
            range: None,
            settings: None,
        };
        let reports = DashboardReports {
            main,
            cards: None,
            hours: Some(report_of_hours(168)),
            days: Vec::new(),
            orphans: OrphanReport::default(),
        };
        view.page(Layout::bare(words), head, &reports).render().unwrap()
    }

    fn values() -> Vec<(String, u64)> {
        (0..ROWS)
            .map(|at| {
                (format!("value-{at}.example.org"), 12_345 - 777 * u64::try_from(at).unwrap())
            })
            .collect()
    }

    #[test]
    fn a_dashboard_of_all_cards_is_light() {
        let values = values();
        let values: Vec<_> = values.iter().map(|(name, clicks)| (name.as_str(), *clicks)).collect();
        let html = page(&Asked::usual(), &values);
        assert!(html.len() < 60 << 10, "{} bytes", html.len());
        let compressed = zstd::bulk::compress(html.as_bytes(), 3).unwrap().len();
        assert!(compressed < 15 << 10, "{compressed} bytes compressed");
        assert!(!html.contains("Variants"), "no link has any");
        assert!(!html.contains("style="), "the content security policy forbids it");
        assert!(!html.contains("<script") || html.matches("<script").count() == 1);
        for piece in ["7,350", "Countries", "As a table", "When they click", "unknown"] {
            assert!(html.contains(piece), "no {piece} in {html}");
        }
    }

    #[test]
    fn hostile_values_stay_text() {
        let html = page(&Asked::usual(), &[("\"><script>alert(1)</script>", 5), ("a\u{202e}b", 3)]);
        assert_eq!(html.matches("<script").count(), 1, "the page's own");
        assert!(!html.contains('\u{202e}'));
        assert!(html.contains("%22%3E%3Cscript%3E"));
    }
}
