//! The plainest way to answer a question: look at every event, one after the other. It shares nothing with the
//! engine but the question, the shape of the answer and the calendar, which has tests of its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kurz_core::analytics::calendar::Zone;
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Class, Dimension, EventFilter, FilterValue, GroupReport,
    GroupRow, RowOrder, SeriesPoint, Sums, TextColumn, TimeRange,
};
use kurz_core::time::Timestamp;

const DAY_MS: i64 = 86_400_000;

/// One event with its texts by the number of their column.
#[derive(Clone, Debug)]
pub(super) struct PlainEvent {
    pub(super) link: i64,
    pub(super) at: i64,
    pub(super) visitor: u64,
    pub(super) count: u32,
    pub(super) texts: Vec<&'static str>,
}

impl PlainEvent {
    fn text(&self, column: TextColumn) -> &'static str {
        let place = TextColumn::ALL.iter().position(|one| *one == column).unwrap();
        self.texts[place]
    }
}

/// What is known of links beside their events.
#[derive(Clone, Debug, Default)]
pub(super) struct PlainLinks {
    pub(super) codes: BTreeMap<i64, String>,
    pub(super) tags: BTreeMap<i64, Vec<String>>,
}

impl PlainLinks {
    fn tags_of(&self, link: i64) -> Vec<String> {
        let tags = self.tags.get(&link).cloned().unwrap_or_default();
        if tags.is_empty() { vec![String::new()] } else { tags }
    }
}

/// A row before it is one: clicks, visitors by day, and the link that it is about.
#[derive(Clone, Debug, Default)]
struct Tally {
    clicks: u64,
    visitors: BTreeSet<(i64, u64)>,
    link: i64,
}

impl Tally {
    fn add(&mut self, event: &PlainEvent) {
        self.clicks += u64::from(event.count);
        if event.visitor != 0 {
            self.visitors.insert((event.at.div_euclid(DAY_MS), event.visitor));
        }
    }

    fn visitors(&self) -> u64 {
        u64::try_from(self.visitors.len()).unwrap()
    }
}

/// Which of the events a number counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Asked,
    Bots,
    AnyClass,
    AnyAnswer,
}

pub(super) fn answer(
    query: &AnalyticsQuery,
    events: &[PlainEvent],
    links: &PlainLinks,
) -> AnalyticsReport {
    let zone = Zone::find(&query.zone).unwrap();
    let compared = zone.compared(query.range, query.compare);
    let question = Question { query, events, links };
    let points = |range| {
        let buckets = zone.buckets(range, query.interval, 10_000).unwrap();
        question.series(range, &buckets).into_iter().zip(buckets).collect::<Vec<_>>()
    };
    let mut before = compared.map(|range| points(range).into_iter().map(|(sums, _)| sums));
    let series = points(query.range).into_iter().map(|(sums, start)| SeriesPoint {
        start,
        sums,
        before: before.as_mut().map(|before| before.next().unwrap_or_default()),
    });
    let total = question.sums(query.range);
    let bare: u64 = question
        .counted(query.range, Which::Asked)
        .filter(|event| event.text(TextColumn::Answer).is_empty())
        .map(|event| u64::from(event.count))
        .sum();
    AnalyticsReport {
        range: query.range,
        interval: query.interval,
        zone: query.zone.clone(),
        visitors_basis: "day",
        detail_share: if total.clicks == 0 { 1.0 } else { 1.0 - share(bare, total.clicks) },
        exact: true,
        total,
        before: compared.map(|range| question.sums(range)),
        series: series.collect(),
        groups: query.groups.iter().map(|group| question.group(*group, compared)).collect(),
        events: 0,
    }
}

struct Question<'a> {
    query: &'a AnalyticsQuery,
    events: &'a [PlainEvent],
    links: &'a PlainLinks,
}

impl Question<'_> {
    fn counted(&self, range: TimeRange, which: Which) -> impl Iterator<Item = &PlainEvent> {
        let filters_answers = self
            .query
            .filters
            .iter()
            .any(|filter| filter.dimension == Dimension::Text(TextColumn::Answer));
        self.events.iter().filter(move |event| {
            let class = event.text(TextColumn::Class);
            let is_bot = ["bot", "preview", "head", "prefetch"].contains(&class);
            let is_asked = match self.query.class {
                None => true,
                Some(Class::Person) => class == "person" || class.is_empty(),
                Some(asked) => class == asked.name(),
            };
            let is_redirect = matches!(event.text(TextColumn::Answer), "30x" | "");
            (range.from.as_ms()..range.to.as_ms()).contains(&event.at)
                && self.query.link.is_none_or(|link| link.0 == event.link)
                && self.query.filters.iter().all(|filter| self.passes(filter, event))
                && (is_redirect || filters_answers || which == Which::AnyAnswer)
                && match which {
                    Which::Asked | Which::AnyAnswer => is_asked,
                    Which::Bots => is_bot,
                    Which::AnyClass => true,
                }
        })
    }

    fn passes(&self, filter: &EventFilter, event: &PlainEvent) -> bool {
        let values = self.values(filter.dimension, event);
        let matches = |value: &FilterValue| match value {
            FilterValue::Exactly(wanted) => values.iter().any(|value| **value == **wanted),
            FilterValue::Prefix(start) => values.iter().any(|value| value.starts_with(&**start)),
        };
        filter.values.iter().any(matches) != filter.not
    }

    fn values(&self, dimension: Dimension, event: &PlainEvent) -> Vec<String> {
        match dimension {
            Dimension::Text(column) => vec![event.text(column).to_owned()],
            Dimension::Link => vec![self.links.codes[&event.link].clone()],
            Dimension::Tag => self.links.tags_of(event.link),
        }
    }

    fn sums(&self, range: TimeRange) -> Sums {
        let mut tally = Tally::default();
        let mut qr = 0;
        for event in self.counted(range, Which::Asked) {
            tally.add(event);
            if event.text(TextColumn::Trigger) == "qr" {
                qr += u64::from(event.count);
            }
        }
        let bots = self.counted(range, Which::Bots).map(|event| u64::from(event.count)).sum();
        Sums { clicks: tally.clicks, visitors: tally.visitors(), bots, qr }
    }

    fn series(&self, range: TimeRange, buckets: &[Timestamp]) -> Vec<Sums> {
        let ends = buckets.iter().skip(1).copied().chain([range.to]);
        let part = |(start, end): (&Timestamp, Timestamp)| {
            self.sums(TimeRange { from: (*start).max(range.from), to: end })
        };
        buckets.iter().zip(ends).map(part).collect()
    }

    fn tallies(&self, group: Dimension, range: TimeRange) -> BTreeMap<String, Tally> {
        let which = match group {
            Dimension::Text(TextColumn::Bot) => Which::Bots,
            Dimension::Text(TextColumn::Class) => Which::AnyClass,
            Dimension::Text(TextColumn::Answer) => Which::AnyAnswer,
            _ => Which::Asked,
        };
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        for event in self.counted(range, which) {
            for value in self.values(group, event) {
                let tally = tallies.entry(value).or_default();
                tally.add(event);
                tally.link = event.link;
            }
        }
        tallies
    }

    fn group(&self, group: Dimension, compared: Option<TimeRange>) -> GroupReport {
        let query = self.query;
        let mut tallies = self.tallies(group, query.range);
        let before = compared.map(|range| self.tallies(group, range));
        let total = match group {
            Dimension::Tag => self.sums(query.range).clicks,
            _ => tallies.values().map(|tally| tally.clicks).sum(),
        };
        let mut take = |value: &str| tallies.remove(value).map_or(0, |tally| tally.clicks);
        let (unknown_clicks, private_clicks) = (take(""), take("\u{1}"));
        let clicks_before = |value: &str| {
            let before = before.as_ref()?;
            Some(before.get(value).map_or(0, |tally| tally.clicks))
        };
        let mut rows: Vec<(String, Tally)> = tallies.into_iter().collect();
        // Links without a name of their own in the order are in that of their age.
        if group == Dimension::Link {
            rows.sort_by_key(|(_, tally)| tally.link);
        }
        match query.order {
            RowOrder::Name => {}
            RowOrder::Clicks => rows.sort_by_key(|(_, tally)| Reverse(tally.clicks)),
            RowOrder::Visitors => {
                rows.sort_by_key(|(_, tally)| (Reverse(tally.visitors()), Reverse(tally.clicks)));
            }
            RowOrder::Change => rows.sort_by(|(left, one), (right, other)| {
                let growth = |value: &str, tally: &Tally| {
                    let before = clicks_before(value).filter(|clicks| *clicks > 0)?;
                    Some(share(tally.clicks, before))
                };
                let (left, right) = (growth(left, one), growth(right, other));
                // Some is more than None.
                let by_growth = right.partial_cmp(&left).unwrap();
                by_growth.then(other.clicks.cmp(&one.clicks))
            }),
        }
        let all: u64 = rows.iter().map(|(_, tally)| tally.clicks).sum();
        let values = rows.len();
        let shown = rows.into_iter().skip(query.offset).take(query.limit);
        let rows: Vec<GroupRow> = shown
            .map(|(value, tally)| GroupRow {
                clicks: tally.clicks,
                visitors: tally.visitors(),
                share: share(tally.clicks, total),
                before: clicks_before(&value),
                value,
            })
            .collect();
        let shown: u64 = rows.iter().map(|row| row.clicks).sum();
        GroupReport {
            dimension: group,
            rest_values: u64::try_from(values - rows.len()).unwrap(),
            rest_clicks: all - shown,
            unknown_clicks,
            private_clicks,
            rows,
        }
    }
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "as the engine does")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
