//! A thousand links at a time: into an empty table and into one of a million, compared with the rate of
//! plain rusqlite into copies of the same tables, in the same rounds.

use std::sync::Arc;
use std::time::Duration;

use kurz::app::App;
use kurz::clock::Stopwatch;
use kurz_core::account::Caller;
use kurz_core::link::Strategy;
use tokio::task::JoinSet;

use crate::figures::{Table, rate};
use crate::raw::Raw;
use crate::stores::{FULL, Kind, Kurz, Place, copy};
use crate::{ROUNDS, cpu, input};

/// Links in a batch.
const BATCH: usize = 1_000;
/// Batches of a round, which the callers share: those into an empty table are quick.
const BATCHES: [usize; 2] = [40, 20];
const CALLERS: [usize; 2] = [1, 4];

pub(crate) async fn run(place: &Place, kinds: &[Kind], [empty, full]: [bool; 2]) {
    let mut table = Table::new(["empty table", "1,000,000 links"]);
    let [sqlite, postgres] = [Kind::Sqlite, Kind::Postgres].map(|kind| kinds.contains(&kind));
    if sqlite && empty {
        sqlite_empty(place, &mut table).await;
    }
    if sqlite && full {
        sqlite_full(place, &mut table).await;
    }
    if postgres && empty {
        postgres_empty(place, &mut table).await;
    }
    if postgres && full {
        postgres_full(place, &mut table).await;
    }
    println!("Bulk creation, {BATCH} links a batch\n\n{}", table.text());
}

/// The cost of a round.
#[derive(Clone, Copy)]
struct Cost {
    links_per_s: f64,
    cpu_us: f64,
}

/// Measures a round that creates `links` links.
struct Meter {
    watch: Stopwatch,
    cpu: Duration,
}

impl Meter {
    fn start() -> Self {
        Self { cpu: cpu::all(), watch: Stopwatch::start() }
    }

    fn stop(self, links: usize) -> Cost {
        let took = self.watch.elapsed();
        let cpu = cpu::all().saturating_sub(self.cpu);
        Cost { links_per_s: rate(links, took), cpu_us: 1e6 / rate(links, cpu) }
    }
}

async fn sqlite_empty(place: &Place, table: &mut Table) {
    let template = place.sqlite_file("template", 0).await;
    for round in 0..ROUNDS {
        let mut raws = ["raw", "sorted"].map(|name| {
            let file = place.file(&format!("{name}{round}"));
            copy(&template, &file);
            Raw::open(&file)
        });
        let raw = measure_raw(table, 0, &mut raws);
        drop(raws);
        for callers in CALLERS {
            let kurz = place.fresh(Kind::Sqlite, &format!("kurz{callers}_{round}")).await;
            measure_kurz(table, (Kind::Sqlite, 0), kurz.app(), callers, Some(raw)).await;
            kurz.stop().await;
        }
    }
}

async fn sqlite_full(place: &Place, table: &mut Table) {
    let template = place.sqlite_file("full", FULL).await;
    let copied = |name: &str| {
        let file = place.file(name);
        copy(&template, &file);
        file
    };
    let mut raws = ["full_raw", "full_sorted"].map(|name| Raw::open(&copied(name)));
    let mut stores = Vec::new();
    for callers in CALLERS {
        stores.push((callers, Kurz::on_file(&copied(&format!("full_kurz{callers}"))).await));
    }
    for _ in 0..ROUNDS {
        let raw = measure_raw(table, 1, &mut raws);
        for (callers, kurz) in &stores {
            measure_kurz(table, (Kind::Sqlite, 1), kurz.app(), *callers, Some(raw)).await;
        }
    }
    for (_, kurz) in stores {
        kurz.stop().await;
    }
}

async fn postgres_empty(place: &Place, table: &mut Table) {
    for round in 0..ROUNDS {
        for callers in CALLERS {
            let kurz = place.fresh(Kind::Postgres, &format!("bulk{callers}_{round}")).await;
            measure_kurz(table, (Kind::Postgres, 0), kurz.app(), callers, None).await;
            kurz.stop().await;
        }
    }
}

async fn postgres_full(place: &Place, table: &mut Table) {
    let kurz = Kurz::start(&place.postgres_database("bulk_full", FULL).await).await;
    for _ in 0..ROUNDS {
        for callers in CALLERS {
            measure_kurz(table, (Kind::Postgres, 1), kurz.app(), callers, None).await;
        }
    }
    kurz.stop().await;
}

/// What plain rusqlite costs: with rows as they come, and (as kurz does it) sorted by code.
fn measure_raw(table: &mut Table, column: usize, [plain, sorted]: &mut [Raw; 2]) -> Cost {
    let count = batches(column) * BATCH;
    let measure = |raw: &mut Raw, sort: bool| {
        let mut rows = input::rows(count);
        let meter = Meter::start();
        for batch in rows.chunks_mut(BATCH) {
            if sort {
                batch.sort_unstable_by(|one, other| one.code.cmp(&other.code));
            }
            raw.insert(batch, BATCH);
        }
        meter.stop(count)
    };
    let raw = measure(plain, false);
    table.add("raw rusqlite, links/s", column, raw.links_per_s);
    table.add("raw rusqlite, CPU µs a link", column, raw.cpu_us);
    let sorted = measure(sorted, true).links_per_s;
    table.add("the same, each batch sorted by code: × raw", column, sorted / raw.links_per_s);
    raw
}

/// What kurz costs, with `callers` who each send one batch after the other.
async fn measure_kurz(
    table: &mut Table,
    (kind, column): (Kind, usize),
    app: &Arc<App>,
    callers: usize,
    raw: Option<Cost>,
) {
    let batch = |_| input::requests(Strategy::Deterministic, BATCH);
    let share = |_| (0..batches(column) / callers).map(batch).collect::<Vec<_>>();
    let work: Vec<_> = (0..callers).map(share).collect();
    let meter = Meter::start();
    let mut tasks = JoinSet::new();
    for batches in work {
        let app = Arc::clone(app);
        tasks.spawn(async move {
            let workspace = input::workspace();
            for batch in &batches {
                let results = app.create_links(&Caller::OPEN, &workspace, batch, false).await;
                let results = results.expect("the store has room");
                assert!(results.iter().all(|one| one.as_ref().is_ok_and(|made| made.is_new)));
            }
        });
    }
    tasks.join_all().await;
    let cost = meter.stop(batches(column) * BATCH);
    let who = format!("{}, {callers} caller{}", kind.name(), if callers == 1 { "" } else { "s" });
    table.add(&format!("{who}, links/s"), column, cost.links_per_s);
    table.add(&format!("{who}, CPU µs a link"), column, cost.cpu_us);
    if let Some(raw) = raw {
        table.add(&format!("{who}: × raw"), column, cost.links_per_s / raw.links_per_s);
        table.add(&format!("{who}: × raw, by CPU"), column, raw.cpu_us / cost.cpu_us);
    }
}

fn batches(column: usize) -> usize {
    BATCHES.get(column).copied().expect("there are two sizes")
}
