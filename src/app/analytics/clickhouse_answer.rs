//! Questions about whole days that ClickHouse answers: those of which it has exactly the events that the store has.
//! All others, and all when it is slow or away, are answered from the blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::app::analytics::day_scan::FoldScope;
use crate::clickhouse::{ClickHouse, ClickHouseError, DayQuestion};
use crate::store::EventDay;
use kurz_core::analytics::day_partial::{CountedRange, RangeSums, ShownRows};
use kurz_core::analytics::scan_plan::ScanPlan;

/// How long ClickHouse may take for all statements of a question.
const LIMIT: Duration = Duration::from_secs(2);
/// How long it is not asked after it failed or took too long.
const PAUSE: Duration = Duration::from_secs(30);

/// When ClickHouse is asked again.
#[derive(Debug, Default)]
pub(crate) struct QuestionPause(Mutex<Option<Instant>>);

impl QuestionPause {
    fn is_over(&self) -> bool {
        let until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|until| until <= Instant::now())
    }

    fn begin(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + PAUSE);
    }
}

/// What is asked about the days of a range.
#[derive(Debug)]
pub(super) struct AskedDays<'a> {
    pub(super) scope: &'a FoldScope,
    pub(super) plan: &'a ScanPlan,
    /// The rows whose visitors are asked for; `None`: everything else.
    pub(super) rows: Option<&'a ShownRows>,
    /// All days with events.
    pub(super) all: BTreeSet<i64>,
    /// Those of them that ClickHouse may answer, by their blocks.
    pub(super) candidates: BTreeMap<i64, EventDay>,
}

impl App {
    /// The sums of those days that ClickHouse answers, and which they are.
    pub(super) async fn ask_clickhouse(
        &self,
        asked: AskedDays<'_>,
    ) -> Option<(BTreeSet<i64>, RangeSums)> {
        let clickhouse = self.parts.clickhouse.as_ref()?;
        let is_up = clickhouse.is_prepared() && !clickhouse.is_failing();
        if asked.candidates.is_empty() || !is_up || !self.clickhouse_pause.is_over() {
            return None;
        }
        // Until the copy was changed as well, it has what should be gone.
        if self.parts.store.has_event_tasks(&asked.scope.workspace).await.unwrap_or(true) {
            return None;
        }
        let late = |_| Err(ClickHouseError::Away("it takes too long".to_owned()));
        match timeout(LIMIT, answer(clickhouse, &asked)).await.unwrap_or_else(late) {
            Ok(answered) => {
                note(if answered.is_some() { "clickhouse" } else { "blocks" });
                answered
            }
            Err(error) => {
                note("blocks");
                self.clickhouse_pause.begin();
                tracing::warn!(%error, "a question is answered from the store");
                None
            }
        }
    }
}

fn note(by: &'static str) {
    metrics::counter!("kurz_clickhouse_questions_total", "answered_by" => by).increment(1);
}

async fn answer(
    clickhouse: &ClickHouse,
    asked: &AskedDays<'_>,
) -> Result<Option<(BTreeSet<i64>, RangeSums)>, ClickHouseError> {
    let plan = asked.plan;
    let last_block = asked.candidates.values().map(|day| day.last_seq).max().unwrap_or(0);
    let mut question = DayQuestion {
        workspace: &asked.scope.workspace,
        plan,
        days: asked.candidates.keys().copied().collect(),
        last_block,
    };
    let mut days = BTreeSet::new();
    for day in clickhouse.verify_days(&question).await? {
        let stored = asked.candidates.get(&day.day).map(|stored| u64::try_from(stored.events));
        if stored == Some(Ok(day.events)) {
            days.insert(day.day);
        }
    }
    // The visitors of a period are counted together: here, or in the blocks.
    let others: BTreeSet<i64> = asked.all.difference(&days).map(|day| plan.period(*day)).collect();
    days.retain(|day| !others.contains(&plan.period(*day)));
    if days.is_empty() {
        return Ok(None);
    }
    question.days = days.iter().copied().collect();
    let counted = match asked.rows {
        Some(rows) => clickhouse.count_rows(&question, rows).await?,
        None => clickhouse.count_range(&question).await?,
    };
    let Some(counted) = counted else { return Ok(None) };
    let events = |day: &i64| asked.candidates.get(day).map_or(0, |stored| stored.events);
    let events: i64 = days.iter().map(events).sum();
    let counted = CountedRange { events: u64::try_from(events).unwrap_or(0), ..counted };
    Ok(Some((days, counted.into())))
}
