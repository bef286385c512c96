//! The cards of a dashboard: which there are, and the rows of each, with a bar behind every name that is as long as
//! its value.

use crate::language::Language;
use crate::web::analytics::chart::{scaled, thousandths};
use crate::web::analytics::figures::ChangeView;
use crate::web::analytics::filters::{Asked, Measure};
use crate::web::analytics::names::{dimension_name, value_name};
use crate::web::i18n::formats;
use crate::web::i18n::{AnalyticsWords, Words, fill};
use kurz_core::analytics::{
    Dimension, GroupReport, GroupRow, PRIVATE, REDIRECTED, TextColumn, UNKNOWN,
};

/// Rows of a card.
pub(super) const ROWS: usize = 8;

/// Dimensions that have values only where links have variants or rules.
pub(super) const RARE: [Dimension; 2] =
    [Dimension::Text(TextColumn::Variant), Dimension::Text(TextColumn::Rule)];

/// A card: its name in addresses, and the dimensions that one can choose in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardSpec {
    pub(super) id: &'static str,
    pub(super) dimensions: Vec<Dimension>,
    /// Whether it is about all clicks, whoever made them.
    pub(super) everybody: bool,
}

/// What a page is about: cards that have nothing to tell there are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageScope {
    Workspace,
    Link,
}

const fn text(column: TextColumn) -> Dimension {
    Dimension::Text(column)
}

/// The cards in the order of the page. `allowed` says which dimensions may be shown.
pub(super) fn specs(scope: PageScope, allowed: impl Fn(Dimension) -> bool) -> Vec<CardSpec> {
    use TextColumn as T;
    let links = match scope {
        PageScope::Workspace => vec![Dimension::Link, Dimension::Tag, text(T::Host)],
        PageScope::Link => vec![text(T::Host)],
    };
    let columns = |columns: &[T]| columns.iter().copied().map(Dimension::Text).collect::<Vec<_>>();
    let campaigns = [T::UtmCampaign, T::UtmSource, T::UtmMedium, T::UtmTerm, T::UtmContent, T::Ref];
    let all = [
        ("links", links, false),
        ("sources", columns(&[T::Channel, T::Referrer]), false),
        ("places", columns(&[T::Country, T::Region, T::City]), false),
        ("devices", columns(&[T::Device, T::Browser, T::Os, T::App]), false),
        ("languages", columns(&[T::Language]), false),
        ("campaigns", columns(&campaigns), false),
        ("triggers", columns(&[T::Trigger, T::Variant, T::Rule]), false),
        ("bots", columns(&[T::Bot, T::Class]), true),
        ("answers", columns(&[T::Answer]), true),
    ];
    let card = |(id, mut dimensions, everybody): (&'static str, Vec<Dimension>, bool)| {
        dimensions.retain(|dimension| allowed(*dimension));
        CardSpec { id, dimensions, everybody }
    };
    all.into_iter().map(card).filter(|card| !card.dimensions.is_empty()).collect()
}

const fn card_title(w: &AnalyticsWords, id: &str) -> &'static str {
    match id.as_bytes() {
        b"links" => w.links,
        b"sources" => w.sources,
        b"places" => w.places,
        b"devices" => w.devices,
        b"languages" => w.languages,
        b"campaigns" => w.campaigns,
        b"triggers" => w.triggers,
        b"bots" => w.bots,
        _ => w.answers,
    }
}

#[derive(Debug)]
pub(super) struct CardView {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What its rows are.
    pub(super) head: &'static str,
    pub(super) unit: &'static str,
    pub(super) tabs: Vec<TabView>,
    pub(super) rows: Vec<RowView>,
    /// Values that are not in the rows.
    pub(super) rest: Option<String>,
    pub(super) more: String,
    pub(super) hint: Option<&'static str>,
}

impl CardView {
    /// A card without rows.
    pub(super) fn empty(
        id: &'static str,
        title: &'static str,
        head: &'static str,
        unit: &'static str,
    ) -> Self {
        let (tabs, rows, more) = (Vec::new(), Vec::new(), String::new());
        Self { id, title, head, unit, tabs, rows, rest: None, more, hint: None }
    }

    /// The same on another page than the dashboard, which is at `base`.
    pub(super) fn at(mut self, base: &str) -> Self {
        for href in self.rows.iter_mut().filter_map(|row| row.href.as_mut()) {
            *href = format!("{base}{href}");
        }
        self
    }
}

#[derive(Debug)]
pub(super) struct TabView {
    pub(super) name: &'static str,
    pub(super) href: String,
    pub(super) is_current: bool,
}

#[derive(Debug)]
pub(super) struct RowView {
    pub(super) name: String,
    pub(super) href: Option<String>,
    /// How long its bar is.
    pub(super) width: String,
    pub(super) value: String,
    pub(super) share: String,
    pub(super) change: Option<ChangeView>,
    /// For lists: clicks and visitors, whatever is measured, and the page without this value.
    pub(super) clicks: String,
    pub(super) visitors: String,
    pub(super) without: Option<String>,
}

/// In what words rows are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStyle<'a> {
    pub(super) asked: &'a Asked,
    pub(super) language: Language,
    pub(super) words: &'a Words,
}

impl RowStyle<'_> {
    const fn counts_visitors(&self) -> bool {
        matches!(self.asked.measure, Measure::Visitors)
    }

    const fn unit(&self) -> &'static str {
        let w = &self.words.analytics;
        if self.counts_visitors() { w.visitors } else { w.clicks }
    }

    const fn value(&self, row: &GroupRow) -> u64 {
        if self.counts_visitors() { row.visitors } else { row.clicks }
    }

    /// The rows of a group, with those whose value is not known or was not to be known at the end. Their addresses
    /// are those of the dashboard, at `base`.
    pub(super) fn rows(&self, group: &GroupReport, base: &str) -> Vec<RowView> {
        let known: u64 = group.rows.iter().map(|row| self.value(row)).sum();
        let all = group.rows.iter().map(|row| row.clicks).sum::<u64>()
            + group.rest_clicks
            + group.unknown_clicks
            + group.private_clicks;
        let whole = if self.counts_visitors() { known } else { all };
        let highest = group.rows.iter().map(|row| self.value(row)).max().unwrap_or(0);
        let highest = highest.max(group.unknown_clicks).max(1);
        let mut rows: Vec<_> = group
            .rows
            .iter()
            .map(|row| self.row(group.dimension, row, (highest, whole), base))
            .collect();
        let name = |value| value_name(group.dimension, value, self.language, self.words);
        // Their visitors are not counted apart.
        if !self.counts_visitors() {
            let odd = [
                (group.unknown_clicks, name(UNKNOWN), Some(UNKNOWN)),
                (group.private_clicks, name(PRIVATE), None),
            ];
            for (clicks, name, value) in odd.into_iter().filter(|(clicks, ..)| *clicks > 0) {
                let filtered = |not| {
                    Some(self.asked.filtered(group.dimension, value?, not).href_with(base, &[]))
                };
                rows.push(RowView {
                    name,
                    href: filtered(false),
                    without: filtered(true),
                    change: None,
                    visitors: "–".to_owned(),
                    ..self.figures(clicks, (highest, whole), clicks)
                });
            }
        }
        rows
    }

    fn row(&self, dimension: Dimension, row: &GroupRow, scale: (u64, u64), base: &str) -> RowView {
        let filtered =
            |not| Some(self.asked.filtered(dimension, &row.value, not).href_with(base, &[]));
        let change = row.before.filter(|_| !self.counts_visitors());
        RowView {
            name: value_name(dimension, &row.value, self.language, self.words),
            href: filtered(false),
            without: filtered(true),
            change: change.filter(|before| *before > 0).map(|before| {
                ChangeView::of(self.language, &self.words.analytics, row.clicks, before)
            }),
            visitors: formats::number(self.language, row.visitors),
            ..self.figures(self.value(row), scale, row.clicks)
        }
    }

    /// A row of something that has no filter. The scale is the highest value and the sum of all.
    pub(super) fn counted_row(&self, name: String, value: u64, scale: (u64, u64)) -> RowView {
        RowView { name, ..self.figures(value, scale, value) }
    }

    fn figures(&self, value: u64, (highest, whole): (u64, u64), clicks: u64) -> RowView {
        RowView {
            name: String::new(),
            href: None,
            width: thousandths(scaled(value, 100_000, highest) / 100 * 100),
            value: formats::number(self.language, value),
            share: formats::percent(self.language, scaled(value, 1000, whole)),
            change: None,
            clicks: formats::number(self.language, clicks),
            visitors: String::new(),
            without: None,
        }
    }

    /// A card, with the dimension that was chosen in it.
    pub(super) fn card(
        &self,
        spec: &CardSpec,
        groups: &[GroupReport],
        list: &str,
    ) -> Option<CardView> {
        let shown = self.asked.shown(&spec.dimensions)?;
        let group = groups.iter().find(|group| group.dimension == shown)?;
        let w = &self.words.analytics;
        let tab = |dimension: &Dimension| TabView {
            name: dimension_name(w, *dimension),
            href: format!(
                "{}#{}",
                self.asked.showing(*dimension, &spec.dimensions).href(),
                spec.id
            ),
            is_current: *dimension == shown,
        };
        let tabs = if spec.dimensions.len() > 1 {
            spec.dimensions.iter().map(tab).collect()
        } else {
            Vec::new()
        };
        let rest = (group.rest_values > 0).then(|| {
            let values = formats::number(self.language, group.rest_values);
            let clicks = formats::number(self.language, group.rest_clicks);
            format!("{}: {clicks}", fill(w.rest, values))
        });
        let mut rows = self.rows(group, "");
        if shown == Dimension::Text(TextColumn::Answer) {
            // What is told is what did not lead anywhere.
            rows = self.rows(&without_redirects(group), "");
            if rows.is_empty() {
                return None;
            }
        }
        let is_place = matches!(shown, Dimension::Text(TextColumn::Region | TextColumn::City));
        let hint = (is_place && group.rows.is_empty()).then_some(w.geo_note);
        Some(CardView {
            id: spec.id,
            title: card_title(w, spec.id),
            head: dimension_name(w, shown),
            unit: self.unit(),
            tabs,
            rest,
            more: self.asked.href_with(list, &[("group", shown.name())]),
            hint,
            rows,
        })
    }
}

/// Requests that were answered with something else than a redirect.
fn without_redirects(group: &GroupReport) -> GroupReport {
    let is_other = |row: &&GroupRow| row.value != REDIRECTED;
    let rows = group.rows.iter().filter(is_other).cloned().collect();
    GroupReport { rows, unknown_clicks: 0, private_clicks: 0, ..group.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::analytics::sample::group;

    const COUNTRY: Dimension = Dimension::Text(TextColumn::Country);

    fn style(asked: &Asked) -> RowStyle<'_> {
        let language = Language::English;
        RowStyle { asked, language, words: Words::of(language) }
    }

    #[test]
    fn every_row_leads_to_its_filter_and_its_bar_is_as_long_as_its_value() {
        let asked = Asked::usual();
        let rows = style(&asked).rows(&group(COUNTRY, &[("DE", 300), ("AT", 75)]), "");
        assert_eq!(rows[0].name, "Germany");
        assert_eq!(rows[0].href.as_deref(), Some("?filter=country%3ADE"));
        assert_eq!(rows[0].without.as_deref(), Some("?filter=-country%3ADE"));
        assert_eq!([&rows[0].width, &rows[1].width], ["100%", "25%"]);
        assert_eq!((rows[1].value.as_str(), rows[1].share.as_str()), ("75", "17%"));
        assert_eq!(rows[2].name, "unknown");
        assert_eq!(rows[2].href.as_deref(), Some("?filter=country%3A"));
        assert_eq!((rows[3].name.as_str(), &rows[3].href), ("asked not to be tracked", &None));
    }

    #[test]
    fn visitors_are_counted_when_they_are_what_is_measured() {
        let asked = Asked::usual().with(|asked| asked.measure = Measure::Visitors);
        let rows = style(&asked).rows(&group(COUNTRY, &[("DE", 300), ("AT", 75)]), "");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].value, "150");
    }

    #[test]
    fn answers_tell_what_led_nowhere() {
        let answer = text(TextColumn::Answer);
        let spec = specs(PageScope::Workspace, |one| one == answer).remove(0);
        let asked = Asked::usual();
        let card =
            |values: &[(&str, u64)]| style(&asked).card(&spec, &[group(answer, values)], "/list");
        assert!(card(&[("30x", 300)]).is_none());
        let rows = card(&[("30x", 300), ("410", 3)]).unwrap().rows;
        assert_eq!((rows.len(), rows[0].value.as_str(), rows[0].share.as_str()), (1, "3", "100%"));
    }

    #[test]
    fn cards_show_what_may_be_shown_only() {
        let all = specs(PageScope::Workspace, |_| true);
        assert_eq!(all.len(), 9);
        let few = specs(PageScope::Link, |dimension| dimension == COUNTRY);
        assert_eq!(few.len(), 1);
        assert_eq!((few[0].id, few[0].dimensions.as_slice()), ("places", &[COUNTRY][..]));
        let asked = Asked::usual();
        let groups = [group(COUNTRY, &[("DE", 300)])];
        let card = style(&asked).card(&few[0], &groups, "/list").unwrap();
        assert_eq!((card.title, card.tabs.len()), ("Places", 0));
        assert_eq!(card.more, "/list?group=country");
        assert!(style(&asked).card(&all[0], &groups, "/list").is_none(), "it was not asked for");
    }
}
