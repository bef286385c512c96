//! Folds the days of a range: events where there are any, sums where they are gone, and counts where there were
//! none yet. Events are decoded on blocking threads, never on a worker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use xxhash_rust::xxh64::xxh64;

use crate::app::analytics::clickhouse_answer::AskedDays;
use crate::app::analytics::engine::{DayKey, RememberedDay};
use crate::app::analytics::log_events::EventLogSnapshot;
use crate::app::{App, AppError, FieldError};
use crate::store::{EventColumn, EventDay, ListScope, PeriodClicks};
use kurz_core::analytics::day_partial::{DayPartial, Distinct, RangeSums, RowKeys, ShownRows};
use kurz_core::analytics::scan::{BlockColumns, Scanner};
use kurz_core::analytics::scan_plan::{LinkSet, ScanPlan};
use kurz_core::analytics::summed_day::{CountedPeriod, SummedDay, counted_day};
use kurz_core::analytics::{Class, DaySums, VisitorPeriod};
use kurz_core::code::WorkspaceId;
use kurz_core::link::{Hour, LinkId};
use kurz_core::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Whose clicks are folded.
#[derive(Clone, Debug)]
pub(super) struct FoldScope {
    pub(super) workspace: WorkspaceId,
    /// The list that clicks were counted for before there were events.
    pub(super) list: ListScope,
    /// Only this link.
    pub(super) link: Option<LinkId>,
    /// Whether filters are set, which only events can answer.
    pub(super) is_filtered: bool,
}

/// Sums of a range, and whether they are exact.
#[derive(Clone, Debug, Default)]
pub(super) struct FoldedRange {
    pub(super) sums: RangeSums,
    pub(super) exact: bool,
}

/// What a day is known by.
enum KnownDay {
    Events(Option<EventDay>),
    Sums(SummedDay),
    Counts(Vec<CountedPeriod>),
}

impl App {
    /// Everything that `plan` asks about some workspaces, without the visitors of rows.
    pub(super) async fn fold_range(
        &self,
        scopes: &[FoldScope],
        plan: &Arc<ScanPlan>,
        logged: &Arc<EventLogSnapshot>,
    ) -> Result<FoldedRange, AppError> {
        let mut all = FoldedRange { exact: true, ..FoldedRange::default() };
        for scope in scopes {
            let is_only = scopes.len() == 1;
            let folded = self.fold(scope, plan, logged, None, is_only).await?;
            all.exact &= folded.exact;
            all.sums.absorb(folded.sums);
        }
        Ok(all)
    }

    /// The visitors of rows.
    pub(super) async fn fold_rows(
        &self,
        scopes: &[FoldScope],
        plan: &Arc<ScanPlan>,
        logged: &Arc<EventLogSnapshot>,
        rows: ShownRows,
    ) -> Result<RangeSums, AppError> {
        let rows = Arc::new(rows);
        let mut all = RangeSums::default();
        for scope in scopes {
            let is_only = scopes.len() == 1;
            all.absorb(self.fold(scope, plan, logged, Some(&rows), is_only).await?.sums);
        }
        Ok(all)
    }

    async fn fold(
        &self,
        scope: &FoldScope,
        plan: &Arc<ScanPlan>,
        logged: &Arc<EventLogSnapshot>,
        rows: Option<&Arc<ShownRows>>,
        is_only: bool,
    ) -> Result<FoldedRange, AppError> {
        let mut days = self.known_days(scope, plan, logged).await?;
        let mut folded = FoldedRange { exact: true, ..FoldedRange::default() };
        // Of all workspaces it would be too many questions.
        if is_only && self.parts.clickhouse.is_some() {
            let asked = self.days_to_ask(scope, plan, logged, rows, &days);
            if let Some((answered, sums)) = self.ask_clickhouse(asked).await {
                days.retain(|day, _| !answered.contains(day));
                folded.sums.absorb(sums);
            }
        }
        let (are_rows, rows) = (rows.is_some(), &rows.cloned().unwrap_or_default());
        let scanned = stream::iter(days)
            .map(|(day, known)| async move {
                let is_exact = match &known {
                    KnownDay::Events(_) => true,
                    KnownDay::Sums(_) => false,
                    KnownDay::Counts(_) => !scope.is_filtered,
                };
                let sums = match known {
                    KnownDay::Events(blocks) => {
                        self.scan_day(scope, plan, logged, rows, are_rows, day, blocks).await?
                    }
                    KnownDay::Sums(sums) if are_rows => sums.row_visitors(plan, rows),
                    KnownDay::Sums(sums) => sums.partial(plan, day),
                    KnownDay::Counts(_) if are_rows || scope.is_filtered => DayPartial::default(),
                    KnownDay::Counts(periods) => counted_day(plan, day, &periods),
                };
                Ok::<_, AppError>((day, sums, is_exact))
            })
            .buffered(self.analytics.parallel_days);
        let mut scanned = std::pin::pin!(scanned);
        while let Some((day, sums, is_exact)) = scanned.try_next().await? {
            folded.sums.add(plan, day, &sums);
            folded.exact &= is_exact;
        }
        Ok(folded)
    }

    /// The days that ClickHouse may answer: those that are in blocks alone and not in memory.
    fn days_to_ask<'a>(
        &self,
        scope: &'a FoldScope,
        plan: &'a Arc<ScanPlan>,
        logged: &EventLogSnapshot,
        rows: Option<&'a Arc<ShownRows>>,
        days: &BTreeMap<i64, KnownDay>,
    ) -> AskedDays<'a> {
        let names = rows.map(|rows| row_names(rows));
        let is_remembered = |day: i64, blocks: EventDay| {
            let key = DayKey { workspace: scope.workspace.clone(), day, shape: shape(plan, day) };
            let remembered = self.analytics.days.get(&key, blocks).filter(|_| plan.has_whole(day));
            let has = |names: &Vec<_>, day: &RememberedDay| day.visitors(names).is_some();
            remembered.is_some_and(|day| names.as_ref().is_none_or(|names| has(names, &day)))
        };
        let rows = rows.map(|rows| &**rows);
        let (all, candidates) = (BTreeSet::new(), BTreeMap::new());
        let mut asked = AskedDays { scope, plan, rows, all, candidates };
        for (day, known) in days {
            let KnownDay::Events(blocks) = known else { continue };
            asked.all.insert(*day);
            if let Some(blocks) = blocks
                && logged.of_day(&scope.workspace, *day).is_empty()
                && !is_remembered(*day, *blocks)
            {
                asked.candidates.insert(*day, *blocks);
            }
        }
        asked
    }

    /// The days of the range that anything is known of, in their order.
    async fn known_days(
        &self,
        scope: &FoldScope,
        plan: &ScanPlan,
        logged: &EventLogSnapshot,
    ) -> Result<BTreeMap<i64, KnownDay>, AppError> {
        let store = &self.parts.store;
        let range = plan.days();
        let mut days: BTreeMap<i64, KnownDay> = BTreeMap::new();
        for row in store.list_day_sums(&scope.workspace, range.clone()).await? {
            match DaySums::decode(&row.data) {
                Ok(sums) => {
                    let day =
                        days.entry(row.day).or_insert_with(|| KnownDay::Sums(SummedDay::default()));
                    if let KnownDay::Sums(day) = day {
                        day.add(row.dimension, sums);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, day = row.day, "the sums of a day cannot be read");
                }
            }
        }
        if let Some((last, _)) = days.last_key_value()
            && (scope.is_filtered || plan.class != Some(Class::Person))
        {
            return Err(filter_too_old(*last + 1));
        }
        for day in logged.days(&scope.workspace) {
            if range.contains(&day) {
                days.insert(day, KnownDay::Events(None));
            }
        }
        for blocks in store.list_event_days(&scope.workspace, range.clone()).await? {
            days.insert(blocks.day, KnownDay::Events(Some(blocks)));
        }
        self.add_counted_days(scope, range, &mut days).await?;
        Ok(days)
    }

    /// Before the first and after the last day with events, there may be clicks that were only counted. Of one
    /// link also in between: its mode may have changed.
    async fn add_counted_days(
        &self,
        scope: &FoldScope,
        range: std::ops::RangeInclusive<i64>,
        days: &mut BTreeMap<i64, KnownDay>,
    ) -> Result<(), AppError> {
        let now = self.parts.clock.now().as_ms().div_euclid(DAY_MS);
        let known: BTreeSet<i64> = days.keys().copied().collect();
        let is_between = |day: i64| {
            let is_after_first = known.first().is_some_and(|first| *first <= day);
            scope.link.is_none() && is_after_first && known.last().is_some_and(|last| day <= *last)
        };
        let missing = |day: &i64| !known.contains(day) && !is_between(*day);
        let missing: Vec<i64> = range.take_while(|day| *day <= now).filter(missing).collect();
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        let (hours, counted) = self.counted_clicks(scope, *first, *last + 1).await?;
        let hours = hours.into_iter().map(|period| (period.at * HOUR_MS, period));
        let counted = counted.into_iter().map(|period| (period.at * DAY_MS, period));
        for (start, period) in hours.chain(counted) {
            let day = start.div_euclid(DAY_MS);
            if missing.binary_search(&day).is_err() {
                continue;
            }
            let number = |clicks: i64| u64::try_from(clicks).unwrap_or(0);
            let period = CountedPeriod {
                start,
                clicks: number(period.clicks - period.others),
                bots: number(period.others),
            };
            let day = days.entry(day).or_insert_with(|| KnownDay::Counts(Vec::new()));
            if let KnownDay::Counts(periods) = day {
                periods.push(period);
            }
        }
        Ok(())
    }

    async fn counted_clicks(
        &self,
        scope: &FoldScope,
        first: i64,
        end: i64,
    ) -> Result<(Vec<PeriodClicks>, Vec<PeriodClicks>), AppError> {
        let store = &self.parts.store;
        let (from, to) = (first * DAY_MS, end * DAY_MS);
        let Some(link) = scope.link else {
            let hours = store.list_scope_hours(&scope.list, first * 24, end * 24).await?;
            return Ok((hours, store.list_scope_days(&scope.list, first, end).await?));
        };
        // Hours are kept for 31 days; the statement looks at each.
        let oldest = self.parts.clock.now().as_ms() - 40 * DAY_MS;
        let hour = |ms: i64| Hour::of(Timestamp::from_ms(ms.max(oldest).max(0)));
        let hours = store.list_hours(link, hour(from), hour(to)).await?;
        Ok((hours, store.list_days(link, first, end).await?))
    }

    /// The events of a day, from memory where that is possible.
    #[expect(clippy::too_many_arguments, reason = "all of them say which part of which day")]
    async fn scan_day(
        &self,
        scope: &FoldScope,
        plan: &Arc<ScanPlan>,
        logged: &Arc<EventLogSnapshot>,
        rows: &Arc<ShownRows>,
        are_rows: bool,
        day: i64,
        blocks: Option<EventDay>,
    ) -> Result<DayPartial, AppError> {
        let in_log = logged.of_day(&scope.workspace, day);
        let sealed = blocks.filter(|_| in_log.is_empty() && plan.has_whole(day));
        let key = DayKey { workspace: scope.workspace.clone(), day, shape: shape(plan, day) };
        let remembered = sealed.and_then(|blocks| self.analytics.days.get(&key, blocks));
        let names = row_names(rows);
        if let Some(remembered) = &remembered {
            if !are_rows {
                return Ok(remembered.sums.clone());
            }
            if let Some(visitors) = remembered.visitors(&names) {
                return Ok(with_visitors(rows, visitors));
            }
        }
        let columns = if blocks.is_some() {
            let store = &self.parts.store;
            store.list_event_columns(&scope.workspace, day..=day, plan.columns(day)).await?
        } else {
            Vec::new()
        };
        let core = Arc::clone(&self.analytics.cores).acquire_owned().await;
        let (plan, rows) = (Arc::clone(plan), Arc::clone(rows));
        let basis = plan.basis;
        let scan = move || {
            let _core = core;
            let sums =
                if are_rows { DayPartial::default() } else { DayPartial::counting(&plan, day) };
            let mut sums = sums.with_rows(&rows);
            scan_blocks(&plan, &rows, day, &columns, &mut sums);
            scan_log(&plan, &rows, day, &in_log, &mut sums);
            sums.sealed(basis)
        };
        let sums = tokio::task::spawn_blocking(scan).await.map_err(|_| AppError::AnalyticsSlow)?;
        if sums.damaged_events > 0 || sums.damaged_columns > 0 {
            let (events, columns) = (sums.damaged_events, sums.damaged_columns);
            tracing::warn!(day, events, columns, "some events of a day cannot be read");
        }
        match (sealed, remembered) {
            (Some(_), Some(remembered)) if are_rows && basis == VisitorPeriod::Day => {
                let visitors = sums.rows.iter().flatten().map(Distinct::count);
                remembered.keep_visitors(names.into_iter().zip(visitors));
            }
            (Some(blocks), None) if !are_rows => {
                let day = RememberedDay::new(blocks, sums.clone());
                self.analytics.days.insert(key, Arc::new(day));
            }
            _ => {}
        }
        Ok(sums)
    }
}

/// `day` is the first one that has events.
fn filter_too_old(day: i64) -> AppError {
    let first = Timestamp::from_ms(day.saturating_mul(DAY_MS)).to_rfc3339();
    let first = first.get(..10).unwrap_or_default();
    let detail = format!(
        "filters and classes need events, which are kept from {first} on: begin there, or ask without them"
    );
    FieldError::new("filter", "filter-too-old", detail).into()
}

/// The question without its range: what a day with the same blocks answers the same.
fn shape(plan: &ScanPlan, day: i64) -> (u64, u64) {
    let ScanPlan { links, class, filters, groups, basis, .. } = plan;
    let text = format!("{:?}", (links, class, filters, groups, basis, plan.cuts(day).1));
    (xxh64(text.as_bytes(), 0), xxh64(text.as_bytes(), 1))
}

fn scan_blocks(
    plan: &ScanPlan,
    rows: &ShownRows,
    day: i64,
    columns: &[EventColumn],
    sums: &mut DayPartial,
) {
    let mut scanner = Scanner::default();
    for block in columns.chunk_by(|left, right| left.seq == right.seq) {
        let events = block.first().map_or(0, |column| column.events);
        let events = usize::try_from(events).unwrap_or(0);
        let data = block.iter().map(|column| (column.column, column.data.as_slice())).collect();
        if scanner.scan(plan, rows, day, &BlockColumns::stored(events, data), sums).is_err() {
            sums.damaged_events += u64::try_from(events).unwrap_or(0);
        }
    }
}

fn scan_log(
    plan: &ScanPlan,
    rows: &ShownRows,
    day: i64,
    in_log: &[(Arc<[u8]>, LinkSet)],
    sums: &mut DayPartial,
) {
    let mut scanner = Scanner::default();
    for (data, links) in in_log {
        let mut plan = plan.clone();
        plan.links.push(links.clone());
        if let Ok(row) = BlockColumns::row(data) {
            // It was read when the log was: it is not damaged.
            let _ = scanner.scan(&plan, rows, day, &row, sums);
        }
    }
}

/// What the visitors of rows are remembered by.
fn row_names(rows: &ShownRows) -> Vec<(usize, String)> {
    let of_group = |(group, keys): (usize, &RowKeys)| -> Vec<(usize, String)> {
        match keys {
            RowKeys::Texts(keys) => keys.iter().map(|key| (group, key.to_string())).collect(),
            RowKeys::Links(keys) => {
                keys.iter().map(|links| (group, format!("{links:?}"))).collect()
            }
        }
    };
    rows.groups.iter().enumerate().flat_map(of_group).collect()
}

fn with_visitors(rows: &ShownRows, visitors: Vec<u64>) -> DayPartial {
    let mut visitors = visitors.into_iter().map(Distinct::Number);
    let of_group = |keys: &RowKeys| visitors.by_ref().take(keys.len()).collect();
    DayPartial::of_rows(rows.groups.iter().map(of_group).collect())
}
