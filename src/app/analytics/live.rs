//! Clicks as they come. The event log has those of all instances within a second of the click, so whoever follows it
//! sees every instance.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::app::analytics::day_scan::FoldScope;
use crate::app::analytics::event_list::{ShownEvent, shown};
use crate::app::links::search_limit::RunningSearch;
use crate::app::{App, AppError};
use kurz_core::account::Caller;
use kurz_core::analytics::block::decode_row;
use kurz_core::analytics::calendar::Zone;
use kurz_core::analytics::scan::{BlockColumns, Scanner};
use kurz_core::analytics::scan_plan::{LinkSet, ScanPlan};
use kurz_core::analytics::{AnalyticsMode, AnalyticsQuery, Sums, TextColumn, TimeRange};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Clicks that are given at a time; more are only in the sums.
const MOST_CLICKS: usize = 50;
/// Rows of the log that are read at a time.
const MOST_ROWS: usize = 64;
/// Minutes of the sum.
const MINUTES: i64 = 30;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;

/// Follows the clicks of a workspace.
#[derive(Debug)]
pub struct LiveClicks {
    scope: FoldScope,
    plan: ScanPlan,
    hidden: Vec<TextColumn>,
    /// Whether single clicks may be shown.
    shows_clicks: bool,
    /// The last row that was seen, by writer; `None` before the first look.
    seen: Option<BTreeMap<i64, i64>>,
    _running: RunningSearch,
}

/// The last half hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSums {
    /// Oldest minute first.
    pub minutes: Vec<Sums>,
    pub total: Sums,
}

impl App {
    /// Follow the clicks that a question is about. Refused as busy while too many follow.
    pub async fn follow_clicks(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        query: &AnalyticsQuery,
    ) -> Result<LiveClicks, AppError> {
        let scope = self.analytics_scope(caller, workspace, query.link).await?;
        let running = self.analytics.live.begin(scope.account).await.map_err(|_| AppError::Busy)?;
        let privacy = self.parts.store.find_privacy(&scope.workspace).await?.unwrap_or_default();
        let mode = self.parts.policy.analytics.mode_with(privacy.mode);
        let off = privacy.panels_off.unwrap_or_default();
        let is_off = |column: &TextColumn| off.iter().any(|name| name == column.name());
        let (fold, links, _) = self.resolve_question(&scope, query).await?;
        let plan = self.plan(query, &Zone::utc(), query.range, links);
        Ok(LiveClicks {
            scope: fold,
            plan: ScanPlan { groups: Vec::new(), ..plan },
            hidden: TextColumn::ALL.into_iter().filter(is_off).collect(),
            shows_clicks: mode == AnalyticsMode::Events,
            seen: None,
            _running: running,
        })
    }

    /// The last half hour of what a question is about, whatever its range is.
    pub async fn live_sums(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        query: &AnalyticsQuery,
    ) -> Result<LiveSums, AppError> {
        let scope = self.analytics_scope(caller, workspace, query.link).await?;
        let _running = self.analytics.questions.wait(scope.account).await?;
        let (fold, links, _) = self.resolve_question(&scope, query).await?;
        let plan = self.plan(query, &Zone::utc(), query.range, links);
        self.sum_minutes(&fold, &ScanPlan { groups: Vec::new(), ..plan }).await
    }

    async fn sum_minutes(&self, scope: &FoldScope, plan: &ScanPlan) -> Result<LiveSums, AppError> {
        let now = self.now().as_ms();
        let end = now - now.rem_euclid(MINUTE_MS) + MINUTE_MS;
        let from = end - MINUTES * MINUTE_MS;
        let minutes = (0..MINUTES).map(|minute| from + minute * MINUTE_MS);
        let plan = Arc::new(ScanPlan {
            range: TimeRange { from: Timestamp::from_ms(from), to: Timestamp::from_ms(end) },
            buckets: minutes.collect(),
            ..plan.clone()
        });
        let logged = Arc::new(self.read_event_log().await?);
        let folded = self.fold_range(std::slice::from_ref(scope), &plan, &logged).await?;
        let mut minutes: Vec<Sums> = folded.sums.series().collect();
        minutes.resize(plan.buckets.len(), Sums::default());
        Ok(LiveSums { minutes, total: folded.sums.total() })
    }
}

impl LiveClicks {
    /// The clicks since the last look, oldest first.
    pub async fn look(&mut self, app: &App) -> Result<Vec<ShownEvent>, AppError> {
        let keys = app.parts.store.list_event_log_keys().await?;
        let is_first = self.seen.is_none();
        let seen = self.seen.get_or_insert_with(BTreeMap::new);
        let is_new = |(writer, seq): &(i64, i64)| seen.get(writer).is_none_or(|last| last < seq);
        let new: Vec<(i64, i64)> = keys.into_iter().filter(is_new).collect();
        for (writer, seq) in &new {
            let last = seen.entry(*writer).or_insert(*seq);
            *last = (*last).max(*seq);
        }
        if is_first || !self.shows_clicks {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for key in new.iter().rev().take(MOST_ROWS) {
            if let Some(data) = app.parts.store.find_logged_events(*key).await? {
                self.read_row(app, &data, &mut found).await?;
            }
        }
        found.sort_by_key(|(_, event): &(LinkId, ShownEvent)| event.at);
        let newest = found.split_off(found.len().saturating_sub(MOST_CLICKS));
        let links: Vec<LinkId> = newest.iter().map(|(link, _)| *link).collect();
        let codes = app.parts.store.list_link_codes(&links).await?;
        let codes: HashMap<LinkId, String> = codes.into_iter().collect();
        let named = newest.into_iter().map(|(link, event)| {
            let code = codes.get(&link).cloned().unwrap_or_else(|| link.to_string());
            ShownEvent { link: code, ..event }
        });
        Ok(named.collect())
    }

    async fn read_row(
        &self,
        app: &App,
        data: &[u8],
        found: &mut Vec<(LinkId, ShownEvent)>,
    ) -> Result<(), AppError> {
        let Ok(row) = BlockColumns::row(data) else { return Ok(()) };
        let (Ok(links), Ok(Some((first, last)))) = (row.links(), row.times()) else {
            return Ok(());
        };
        let workspaces = app.workspaces_of(links).await?;
        let own =
            workspaces.into_iter().filter(|(_, workspace)| *workspace == self.scope.workspace);
        let own: Vec<LinkId> = own.map(|(link, _)| link).collect();
        if own.is_empty() {
            return Ok(());
        }
        let mut plan = self.plan.clone();
        plan.links.push(LinkSet::new(own, false));
        plan.range =
            TimeRange { from: Timestamp::from_ms(first), to: Timestamp::from_ms(last + 1) };
        plan.buckets = vec![first];
        let mut scanner = Scanner::default();
        let batch = decode_row(data).unwrap_or_default();
        for day in first.div_euclid(DAY_MS)..=last.div_euclid(DAY_MS) {
            let events = scanner.matching(&plan, day, &row).unwrap_or_default();
            found
                .extend(events.iter().filter_map(|(_, event)| shown(&batch, *event, &self.hidden)));
        }
        Ok(())
    }

    /// The sums of the last half hour, by minute.
    pub async fn sums(&self, app: &App) -> Result<LiveSums, AppError> {
        app.sum_minutes(&self.scope, &self.plan).await
    }
}
