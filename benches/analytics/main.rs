//! What questions about clicks cost: made-up events of 30 days in memory, and in both stores.
//!
//! ```text
//! ./scripts/with-servers cargo bench --bench analytics               # or with a number of events: -- 1000000
//! ```
//!
//! One workspace with 5,000 links, 8,000 cities, 3,000 referrers and 1,500 kinds of visitors' programs, drawn
//! independently. It prints bytes an event, CPU seconds of one thread for encoding and for a dashboard of 8 groups
//! with visitors by day, the same for one link and with two filters, the same through the program with the sums of
//! days remembered or not, and the memory of the process.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use kurz::store::NewEventBlock;
use kurz_core::account::Caller;
use kurz_core::analytics::block::{MAX_EVENTS, encode_columns};
use kurz_core::analytics::day_partial::{DayPartial, RangeSums, ShownRows};
use kurz_core::analytics::scan::{BlockColumns, Scanner};
use kurz_core::analytics::scan_plan::{LinkSet, ScanPlan};
use kurz_core::analytics::{
    AnalyticsQuery, Class, Comparison, Dimension, EventBatch, EventFilter, Interval, RowOrder,
    TextColumn, TextValues, TimeRange, VisitorPeriod,
};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;
use kurz_test_support::rng::Rng;
use kurz_test_support::{Kind, NOON, TestServer};

const EVENTS: usize = 10_000_000;
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;
const GROUPS: [TextColumn; 7] = [
    TextColumn::Country,
    TextColumn::City,
    TextColumn::Referrer,
    TextColumn::Browser,
    TextColumn::Os,
    TextColumn::Device,
    TextColumn::Language,
];

/// A block: its day, how many events it has, and its columns.
struct Block {
    day: i64,
    events: usize,
    columns: Vec<(u8, Vec<u8>)>,
}

fn main() {
    let events = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(EVENTS);
    let first_day = NOON.as_ms().div_euclid(DAY_MS) - DAYS;
    let blocks = make(events, first_day);
    scan_in_memory(&blocks, first_day, events);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        runtime.block_on(ask_the_program(kind, &blocks, first_day));
    }
    println!("memory of the process: {} kB", resident());
}

fn make(events: usize, first_day: i64) -> Vec<Block> {
    let mut random = Rng::new(15);
    let names = Names::new();
    let mut blocks = Vec::new();
    let mut encoding = Duration::ZERO;
    let mut bytes = [0_usize; 64];
    for day in 0..DAYS {
        let of_day = events / usize::try_from(DAYS).unwrap();
        let mut left = of_day;
        while left > 0 {
            let size = left.min(MAX_EVENTS);
            let from = (first_day + day) * DAY_MS
                + i64::try_from((of_day - left) * 86_400_000 / of_day).unwrap();
            let batch = batch(&mut random, &names, size, from, 86_400_000 / of_day.max(1));
            let before = cpu();
            let columns = encode_columns(&batch);
            encoding += cpu().saturating_sub(before);
            for (column, data) in &columns {
                bytes[usize::from(*column)] += data.len();
            }
            blocks.push(Block { day: first_day + day, events: size, columns });
            left -= size;
        }
    }
    let total: usize = bytes.iter().sum();
    println!("{events} events in {} blocks", blocks.len());
    println!("bytes an event: {:.2}", ratio(total, events));
    for (column, bytes) in bytes.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0) {
        println!("  column {column}: {:.3}", ratio(bytes, events));
    }
    println!("encoding: {:.3} µs CPU an event", micros(encoding, events));
    blocks
}

/// Texts that events have.
struct Names {
    cities: Vec<String>,
    referrers: Vec<String>,
    countries: Vec<String>,
    languages: Vec<String>,
}

impl Names {
    fn new() -> Self {
        let numbered =
            |count: usize, name: &str| (0..count).map(|at| format!("{name}{at}")).collect();
        Self {
            cities: numbered(8_000, "City of "),
            referrers: numbered(3_000, "referrer.example/"),
            countries: numbered(180, "C"),
            languages: numbered(60, "l-"),
        }
    }
}

/// Small numbers are drawn more often: the square of a fraction.
fn skewed(random: &mut Rng, count: usize) -> usize {
    let (one, other) = (random.index(count), random.index(count));
    one * other / count
}

fn batch(random: &mut Rng, names: &Names, size: usize, from: i64, step: usize) -> EventBatch {
    const BROWSERS: [&str; 8] =
        ["Chrome", "Safari", "Firefox", "Edge", "Samsung Internet", "Opera", "Brave", "Instagram"];
    const SYSTEMS: [&str; 6] = ["Android", "iOS", "Windows", "macOS", "Linux", "Chrome OS"];
    let mut batch = EventBatch::default();
    let mut at = from;
    let mut texts: [Vec<&str>; 25] = Default::default();
    for _ in 0..size {
        at += i64::try_from(random.index(2 * step.max(1))).unwrap();
        batch.links.push(LinkId(1 + i64::try_from(skewed(random, 5_000)).unwrap()));
        batch.times.push(Timestamp::from_ms(at));
        // Three clicks for a visitor and day.
        let visitor = random.below(120_000);
        let day = u64::try_from(at.div_euclid(DAY_MS)).unwrap();
        batch.visitors.push((visitor * 100_000 + day).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24);
        batch.nanos.push(u32::try_from(20_000 + random.below(40_000)).unwrap());
        batch.counts.push(1);
        let is_bot = random.below(10) == 0;
        for (column, texts) in TextColumn::ALL.into_iter().zip(&mut texts) {
            texts.push(match column {
                TextColumn::Host => "go.example.com",
                TextColumn::Class => {
                    if is_bot {
                        "bot"
                    } else {
                        "person"
                    }
                }
                TextColumn::Answer => "30x",
                TextColumn::Referrer => &names.referrers[skewed(random, 3_000)],
                TextColumn::Channel => {
                    ["search", "social", "direct", "referral"][skewed(random, 4)]
                }
                TextColumn::Browser => BROWSERS[skewed(random, 8)],
                TextColumn::Os => SYSTEMS[skewed(random, 6)],
                TextColumn::Device => ["phone", "desktop", "tablet"][skewed(random, 3)],
                TextColumn::Language => &names.languages[skewed(random, 60)],
                TextColumn::Country => &names.countries[skewed(random, 180)],
                TextColumn::City => &names.cities[skewed(random, 8_000)],
                TextColumn::Trigger => {
                    if random.below(20) == 0 {
                        "qr"
                    } else {
                        "direct"
                    }
                }
                _ => "",
            });
        }
    }
    for (values, texts) in batch.texts.iter_mut().zip(&texts) {
        *values = TextValues::of(texts.iter().copied());
    }
    batch
}

fn plan(first_day: i64) -> ScanPlan {
    let days = first_day..first_day + DAYS;
    ScanPlan {
        range: range(first_day),
        buckets: days.map(|day| day * DAY_MS).collect(),
        basis: VisitorPeriod::Day,
        links: Vec::new(),
        class: Some(Class::Person),
        filters: Vec::new(),
        groups: groups(),
    }
}

fn range(first_day: i64) -> TimeRange {
    let at = |day: i64| Timestamp::from_ms(day * DAY_MS);
    TimeRange { from: at(first_day), to: at(first_day + DAYS) }
}

fn groups() -> Vec<Dimension> {
    [Dimension::Link].into_iter().chain(GROUPS.map(Dimension::Text)).collect()
}

fn filters() -> Vec<EventFilter> {
    ["country:C1,C2,C3", "-browser:Edge"].map(|text| EventFilter::parse(text).unwrap()).to_vec()
}

fn scan_in_memory(blocks: &[Block], first_day: i64, events: usize) {
    let plan = plan(first_day);
    let of_link = ScanPlan { links: vec![LinkSet::new(vec![LinkId(17)], false)], ..plan.clone() };
    let filtered = ScanPlan { filters: filters(), ..plan.clone() };
    for (name, plan) in [("8 groups", plan), ("one link", of_link), ("two filters", filtered)] {
        let before = cpu();
        let mut sums = RangeSums::default();
        let mut scanner = Scanner::default();
        for day in blocks.chunk_by(|left, right| left.day == right.day) {
            let number = day[0].day;
            let columns = plan.columns(number);
            let mut partial = DayPartial::counting(&plan, number);
            for block in day {
                let wanted = block.columns.iter().filter(|(column, _)| columns >> column & 1 == 1);
                let data = wanted.map(|(column, data)| (*column, data.as_slice())).collect();
                let block = BlockColumns::stored(block.events, data);
                scanner.scan(&plan, &ShownRows::default(), number, &block, &mut partial).unwrap();
            }
            sums.add(&plan, number, &partial.sealed(plan.basis));
        }
        let took = cpu().saturating_sub(before);
        let total = black_box(sums.total());
        let nanos = took.as_secs_f64() * 1e9 / f64::from(u32::try_from(events).unwrap());
        println!(
            "in memory, {name} and visitors by day: {:.3} s CPU, {nanos:.1} ns an event ({} clicks, {} visitors)",
            took.as_secs_f64(),
            total.clicks,
            total.visitors
        );
    }
}

async fn ask_the_program(kind: Kind, blocks: &[Block], first_day: i64) {
    let kurz = TestServer::builder().database(kind).start().await;
    let store = kurz.open_store().await;
    let workspace = WorkspaceId::parse("main").unwrap();
    let before = cpu();
    for block in blocks {
        let stored = NewEventBlock {
            workspace: workspace.clone(),
            day: block.day,
            seq: store.take_numbers("event_block", 1).await.unwrap(),
            events: i64::try_from(block.events).unwrap(),
            columns: block.columns.clone(),
        };
        assert!(store.cut_events(&[], vec![stored]).await.unwrap());
    }
    println!("{kind:?}: storing {:.1} s CPU", cpu().saturating_sub(before).as_secs_f64());
    let query = AnalyticsQuery {
        range: range(first_day),
        interval: Interval::Day,
        zone: "UTC".to_owned(),
        link: None,
        groups: groups(),
        limit: 10,
        offset: 0,
        order: RowOrder::Clicks,
        filters: Vec::new(),
        compare: Comparison::None,
        class: Some(Class::Person),
    };
    let filtered = AnalyticsQuery { filters: filters(), ..query.clone() };
    for (name, query) in [("first", &query), ("again", &query), ("two filters", &filtered)] {
        let (before, start) = (cpu(), tokio::time::Instant::now());
        let report = kurz.app().analytics(&Caller::OPEN, &workspace, query).await.unwrap();
        println!(
            "{kind:?}: dashboard, {name}: {:.3} s CPU, {:.3} s, {} clicks, {} events read",
            cpu().saturating_sub(before).as_secs_f64(),
            start.elapsed().as_secs_f64(),
            report.total.clicks,
            report.events
        );
    }
    kurz.stop().await;
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let of_main = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    // Of all threads: in ticks of ten milliseconds.
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_nanos(of_main).max(Duration::from_millis(ticks * 10))
}

/// Resident memory in kB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn micros(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(u32::try_from(count).unwrap())
}

fn ratio(bytes: usize, events: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap()) / f64::from(u32::try_from(events).unwrap())
}
