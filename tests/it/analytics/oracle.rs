//! Every answer equals that of a plain fold over all events: in the log, in small blocks, in merged ones, after
//! half of them are deleted, and where older days are sums.

use std::time::Duration;

use kurz::app::CopyCheck;
use kurz::store::{LoggedEvents, NewEventBlock, Store, WriteSeq};
use kurz_core::account::Caller;
use kurz_core::analytics::block::{encode_columns, encode_row};
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Class, Comparison, Dimension, EventBatch, EventFilter,
    Interval, RowOrder, TextColumn, TextValues, TimeRange,
};
use kurz_core::clicks::planner::EncodedEvents;
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;
use kurz_test_support::clickhouse::{database, number};
use kurz_test_support::rng::Rng;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::json;

use super::naive::{PlainEvent, PlainLinks, answer};
use crate::clickhouse::proxy::{Proxy, SentStatement};
use crate::clickhouse::{break_blocks, check_copies};
use crate::clicks::events::maintain;

const DAY_MS: i64 = 86_400_000;
const DAYS: i64 = 9;
const EVENTS: usize = 1_800;
const QUESTIONS: usize = 40;
const DAY: Duration = Duration::from_hours(24);

on_both_databases!(
    every_answer_equals_a_plain_fold_in_the_log_in_blocks_and_half_deleted,
    answers_over_days_with_sums_equal_a_plain_fold,
    every_answer_of_clickhouse_equals_a_plain_fold,
);

fn team() -> WorkspaceId {
    WorkspaceId::parse("team").unwrap()
}

/// Links of two workspaces: those of `team` are asked about.
struct World {
    kurz: TestServer,
    store: Store,
    links: PlainLinks,
    own: Vec<i64>,
    others: Vec<i64>,
    rng: Rng,
}

impl World {
    async fn new(kind: Kind, settings: &[(&str, &str)]) -> Self {
        let kurz = TestServer::builder().database(kind).settings(settings).start().await;
        let mut world = Self {
            store: kurz.open_store().await,
            kurz,
            links: PlainLinks::default(),
            own: Vec::new(),
            others: Vec::new(),
            rng: Rng::new(15),
        };
        let tags = [json!(["spring", "print"]), json!(["spring"]), json!([]), json!(["Über, x*"])];
        for place in 0..8 {
            let workspace = if place < 6 { "team" } else { "elsewhere" };
            let tags = &tags[place % tags.len()];
            let url = format!("https://example.com/{place}");
            let body = json!({ "original_url": url, "tags": tags });
            let made = links::make(&world.kurz.http(), workspace, &body).await;
            let id = made["id"].as_i64().unwrap();
            if place >= 6 {
                world.others.push(id);
                continue;
            }
            world.own.push(id);
            world.links.codes.insert(id, made["short_code"].as_str().unwrap().to_owned());
            let tags = tags.as_array().unwrap().iter().map(|tag| tag.as_str().unwrap().to_owned());
            world.links.tags.insert(id, tags.collect());
        }
        world
    }

    /// An event of one of these links on one of the days before [`NOON`]'s, or on that one.
    fn event(&mut self, links: &[i64]) -> PlainEvent {
        const PRIVATE: &str = "\u{1}";
        let rng = &mut self.rng;
        let midnight = NOON.as_ms().div_euclid(DAY_MS) * DAY_MS;
        let at = midnight
            - i64::try_from(below(rng, usize::try_from(DAYS * DAY_MS).unwrap())).unwrap()
            + DAY_MS / 2;
        let mut texts: Vec<&'static str> = TextColumn::ALL
            .into_iter()
            .map(|column| match column {
                TextColumn::Class => *pick(
                    rng,
                    &["person", "person", "person", "bot", "preview", "head", "excluded"],
                ),
                TextColumn::Answer => *pick(rng, &["30x", "30x", "30x", "404", "blocked"]),
                TextColumn::Trigger => *pick(rng, &["qr", "direct", "direct"]),
                TextColumn::Country => *pick(rng, &["DE", "AT", "CH", "FR", "US", "DK", ""]),
                TextColumn::UtmCampaign => *pick(rng, &["spring", "spring-2", "a,b*", "", ""]),
                _ => *pick(rng, &["", "a", "b", "ä", "value of some length", "z"]),
            })
            .collect();
        let mut event =
            PlainEvent { link: *pick(rng, links), at, visitor: 0, count: 1, texts: Vec::new() };
        match below(rng, 20) {
            // Details were dropped: several clicks of which nothing is known.
            0 => {
                texts.fill("");
                texts[1] = "person";
                event.count = u32::try_from(below(rng, 5)).unwrap() + 1;
            }
            // The visitor asked not to be tracked.
            1 => {
                let class = texts[1];
                let answer = texts[24];
                texts.fill(PRIVATE);
                (texts[1], texts[24]) = (class, answer);
            }
            _ => {
                let number = u64::try_from(below(rng, 60)).unwrap() + 1;
                // As a hash: the same for a visitor on one day.
                let day = u64::try_from(at.div_euclid(DAY_MS)).unwrap();
                event.visitor = (number * 1_000 + day).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
            }
        }
        event.texts = texts;
        event
    }

    fn events(&mut self) -> Vec<PlainEvent> {
        let own = self.own.clone();
        let mut events: Vec<PlainEvent> = (0..EVENTS).map(|_| self.event(&own)).collect();
        events.sort_by_key(|event| event.at);
        events
    }

    /// All events in rows of the log, between those of another workspace.
    async fn log(&mut self, events: &[PlainEvent]) {
        let writer = self.store.take_numbers("writer", 1).await.unwrap();
        self.store.register_writer(writer, NOON).await.unwrap();
        let others = self.others.clone();
        for (number, part) in (1..).zip(events.chunks(70)) {
            let mut part = part.to_vec();
            part.extend((0..20).map(|_| self.event(&others)));
            let data = encode_row(&batch(&part));
            let rows = [EncodedEvents { events: u32::try_from(part.len()).unwrap(), data }];
            let (seq, logged) =
                (WriteSeq { writer, number }, LoggedEvents { first: number, rows: &rows });
            self.store.add_totals(seq, &[], logged, NOON).await.unwrap();
        }
    }

    /// Blocks of at most so many events.
    async fn store_blocks(&self, events: &[PlainEvent], most: usize) {
        self.kurz.execute("delete from event_log; delete from event_blocks").await;
        for day in events.chunk_by(|left, right| day_of(left) == day_of(right)) {
            for part in day.chunks(most) {
                let block = NewEventBlock {
                    workspace: team(),
                    day: day_of(&part[0]),
                    seq: self.store.take_numbers("event_block", 1).await.unwrap(),
                    events: i64::try_from(part.len()).unwrap(),
                    columns: encode_columns(&batch(part)),
                };
                assert!(self.store.cut_events(&[], vec![block]).await.unwrap());
            }
        }
    }

    async fn ask(&self, query: &AnalyticsQuery) -> AnalyticsReport {
        let report = self.kurz.app().analytics(&Caller::OPEN, &team(), query).await;
        AnalyticsReport { events: 0, ..report.unwrap_or_else(|error| panic!("{error}: {query:?}")) }
    }

    /// Random questions, each twice: the second is answered by sums that are remembered.
    async fn compare(&mut self, events: &[PlainEvent], stage: &str) {
        let mut answered = 0;
        for _ in 0..QUESTIONS {
            let query = self.question();
            let expected = answer(&query, events, &self.links);
            answered += usize::from(expected.total.clicks > 20 && expected.total.visitors > 5);
            for again in [false, true] {
                same(
                    &self.ask(&query).await,
                    &expected,
                    &format!("{stage}, again: {again}, {query:?}"),
                );
            }
        }
        assert!(answered > QUESTIONS / 3, "{answered} questions are about more than a few clicks");
    }

    /// None, one or two filters.
    fn filters(&mut self) -> Vec<EventFilter> {
        let rng = &mut self.rng;
        let code = self.links.codes[pick(rng, &self.own)].clone();
        let filters = [
            "country:DE,AT",
            "-country:DE",
            "country:D*",
            "country:",
            "utm_campaign:spring*",
            "utm_campaign:a\\,b\\*",
            "tag:spring",
            "-tag:spring",
            "tag:",
            "tag:Über*",
            "answer:404",
            "trigger:qr",
            "-os:a,b",
            "class:bot",
            &format!("link:{code}"),
            &format!("-link:{code}"),
            "city:nowhere",
            "device:\u{1}",
        ]
        .map(|text| EventFilter::parse(text).unwrap());
        (0..below(rng, 4).saturating_sub(1)).map(|_| pick(rng, &filters).clone()).collect()
    }

    fn question(&mut self) -> AnalyticsQuery {
        let rng = &mut self.rng;
        let midnight = NOON.as_ms().div_euclid(DAY_MS) * DAY_MS;
        let days = |count: usize| i64::try_from(count).unwrap() * DAY_MS;
        let mut from = midnight - days(below(rng, 9));
        let mut to = from + days(1 + below(rng, 9));
        if below(rng, 2) == 0 {
            from += i64::try_from(below(rng, 80_000_000)).unwrap();
            to += i64::try_from(below(rng, 80_000_000)).unwrap();
        }
        let range = TimeRange { from: Timestamp::from_ms(from), to: Timestamp::from_ms(to) };
        let intervals = [Interval::Hour, Interval::Day, Interval::Week, Interval::Month];
        let texts = TextColumn::ALL.map(Dimension::Text);
        let mut groups: Vec<Dimension> = Vec::new();
        for _ in 0..below(rng, 5) {
            let group = match below(rng, 6) {
                0 => Dimension::Link,
                1 => Dimension::Tag,
                _ => *pick(rng, &texts),
            };
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let filters = self.filters();
        let rng = &mut self.rng;
        let compare = match below(rng, 4) {
            0 => Comparison::Previous,
            1 => Comparison::Year,
            2 => Comparison::Range(TimeRange {
                from: Timestamp::from_ms(midnight - days(5)),
                to: Timestamp::from_ms(midnight - days(2)),
            }),
            _ => Comparison::None,
        };
        let orders = [RowOrder::Clicks, RowOrder::Visitors, RowOrder::Change, RowOrder::Name];
        let classes = [Some(Class::Person), Some(Class::Person), None, Some(Class::Bot)];
        let zones =
            ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland"];
        AnalyticsQuery {
            range,
            interval: *pick(rng, &intervals),
            zone: (*pick(rng, &zones)).to_owned(),
            link: (below(rng, 5) == 0).then(|| LinkId(*pick(rng, &self.own))),
            limit: 1 + below(rng, 5),
            offset: if groups.len() == 1 { below(rng, 3) } else { 0 },
            groups,
            order: *pick(rng, &orders),
            filters,
            compare,
            class: *pick(rng, &classes),
        }
    }
}

fn below(rng: &mut Rng, end: usize) -> usize {
    rng.index(end)
}

fn pick<'a, T>(rng: &mut Rng, choices: &'a [T]) -> &'a T {
    &choices[rng.index(choices.len())]
}

fn day_of(event: &PlainEvent) -> i64 {
    event.at.div_euclid(DAY_MS)
}

fn batch(events: &[PlainEvent]) -> EventBatch {
    let mut batch = EventBatch::default();
    for event in events {
        batch.links.push(LinkId(event.link));
        batch.times.push(Timestamp::from_ms(event.at));
        batch.visitors.push(event.visitor);
        batch.nanos.push(1_000);
        batch.counts.push(event.count);
    }
    for (column, values) in batch.texts.iter_mut().enumerate() {
        *values = TextValues::of(events.iter().map(|event| event.texts[column]));
    }
    batch
}

#[track_caller]
fn same(found: &AnalyticsReport, expected: &AnalyticsReport, what: &str) {
    assert_eq!((found.total, found.before), (expected.total, expected.before), "{what}");
    assert_eq!(found.series, expected.series, "{what}");
    assert_eq!(found.groups, expected.groups, "{what}");
    assert_eq!(found, expected, "{what}");
}

async fn every_answer_equals_a_plain_fold_in_the_log_in_blocks_and_half_deleted(kind: Kind) {
    let mut world = World::new(kind, &[]).await;
    let events = world.events();
    world.log(&events).await;
    world.compare(&events, "in the log").await;
    world.store_blocks(&events, 40).await;
    world.compare(&events, "in small blocks").await;
    world.store_blocks(&events, 65_536).await;
    world.compare(&events, "in merged blocks").await;
    // Blocks and, of the last day, the log as well.
    let (old, new) = events.split_at(EVENTS * 9 / 10);
    world.store_blocks(old, 500).await;
    world.log(new).await;
    world.compare(&events, "in blocks and the log").await;
    let half: Vec<PlainEvent> = events
        .iter()
        .enumerate()
        .filter(|(place, _)| place % 2 == 0)
        .map(|(_, it)| it.clone())
        .collect();
    world.store_blocks(&half, 300).await;
    world.compare(&half, "half deleted").await;
    world.kurz.stop().await;
}

/// Where sums are all that is left, no filter and no other class can be asked for, and days are whole.
async fn answers_over_days_with_sums_equal_a_plain_fold(kind: Kind) {
    let mut world = World::new(kind, &[("KURZ_EVENTS_KEEP", "90d")]).await;
    let events = world.events();
    world.store_blocks(&events, 700).await;
    world.kurz.clock.set(NOON.plus(DAY * 86));
    maintain(&world.kurz).await;
    let midnight = NOON.as_ms().div_euclid(DAY_MS) * DAY_MS;
    for place in 0..QUESTIONS {
        let mut query = world.question();
        let from = midnight - i64::try_from(place % 8).unwrap() * DAY_MS;
        let range =
            TimeRange { from: Timestamp::from_ms(from), to: Timestamp::from_ms(midnight + DAY_MS) };
        let filtered = AnalyticsQuery { range, zone: "UTC".to_owned(), ..query.clone() };
        query = AnalyticsQuery {
            filters: Vec::new(),
            compare: Comparison::None,
            class: Some(Class::Person),
            interval: if query.interval == Interval::Hour { Interval::Day } else { query.interval },
            // Sums of a link or a tag have visitors of each link, added up.
            groups: query.groups.into_iter().filter(|group| *group != Dimension::Tag).collect(),
            ..filtered.clone()
        };
        let expected = answer(&query, &events, &world.links);
        let found = world.ask(&query).await;
        let is_old = from < midnight - 4 * DAY_MS;
        assert_eq!(found.exact, !is_old, "{query:?}");
        let expected = AnalyticsReport {
            exact: found.exact,
            // Which clicks had no details is not known any more.
            detail_share: found.detail_share,
            ..expected
        };
        same(&found, &expected, &format!("{query:?}"));
        if is_old && !filtered.filters.is_empty() {
            let refused = world.kurz.app().analytics(&Caller::OPEN, &team(), &filtered).await;
            assert!(refused.unwrap_err().to_string().contains("not valid"), "{filtered:?}");
        }
    }
    world.kurz.stop().await;
}

/// The blocks of the store have no columns that could be read: every answer is ClickHouse's.
async fn every_answer_of_clickhouse_equals_a_plain_fold(kind: Kind) {
    let clickhouse = database().await;
    let proxy = Proxy::start(&clickhouse).await;
    if kind == Kind::Sqlite {
        proxy.record();
    }
    let mut world = World::new(kind, &[("KURZ_CLICKHOUSE", proxy.url())]).await;
    let events = world.events();
    let half: Vec<PlainEvent> = events.iter().step_by(2).cloned().collect();
    // The last day is over as well.
    world.kurz.clock.set(NOON.plus(DAY));
    for (events, most) in [(&events, 40), (&half, 500)] {
        world.store_blocks(events, most).await;
        check_copies(&world.kurz, CopyCheck::Days).await;
        break_blocks(&world.kurz).await;
        world.compare(events, "in ClickHouse").await;
    }
    // The first day becomes too old.
    let first = half[0].at.div_euclid(DAY_MS);
    world.kurz.execute(&format!("delete from event_blocks where day = {first}")).await;
    check_copies(&world.kurz, CopyCheck::Days).await;
    let left = half.iter().filter(|event| day_of(event) != first).count();
    assert_eq!(
        number(&clickhouse, "SELECT count() FROM kurz_events").await,
        u64::try_from(left).unwrap()
    );
    write_statements(&proxy.sent());
    world.kurz.stop().await;
}

/// For `./scripts/clickhouse-statements`, which asks the current engine the same.
fn write_statements(sent: &[SentStatement]) {
    let hex =
        |bytes: &[u8]| -> Vec<String> { bytes.iter().map(|it| format!("{it:02x}")).collect() };
    let line = |sent: &SentStatement| {
        let SentStatement { statement, rows, lines } = sent;
        json!({ "statement": statement, "rows": hex(rows).concat(), "lines": lines }).to_string()
    };
    let lines: Vec<String> = sent.iter().map(line).collect();
    if !lines.is_empty() {
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("clickhouse-statements");
        std::fs::write(file, lines.join("\n")).unwrap();
    }
}
