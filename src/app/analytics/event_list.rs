//! The events themselves, newest first, as far as a workspace keeps them. They are read day by day, so that a list
//! of any length takes the memory of one day.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::app::analytics::day_scan::FoldScope;
use crate::app::analytics::log_events::EventLogSnapshot;
use crate::app::{App, AppError, FieldError};
use crate::store::EventColumn;
use kurz_core::account::Caller;
use kurz_core::analytics::block::{decode_columns, decode_row};
use kurz_core::analytics::calendar::Zone;
use kurz_core::analytics::scan::{BlockColumns, Scanner};
use kurz_core::analytics::scan_plan::{LinkSet, ScanPlan};
use kurz_core::analytics::{
    AnalyticsMode, AnalyticsQuery, EventBatch, PRIVATE, TextColumn, UNKNOWN,
};
use kurz_core::code::WorkspaceId;
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// All columns of a block.
const ALL_COLUMNS: u64 = u64::MAX >> 1;

/// An event as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEvent {
    pub at: Timestamp,
    /// The code of the link.
    pub link: String,
    /// 40 bits of a keyed hash; 0 when the visitor is not known.
    pub visitor: u64,
    /// Clicks that it stands for: more than 1 when their details were dropped.
    pub count: u32,
    /// Whether the visitor asked not to be tracked.
    pub is_private: bool,
    /// What is known, by column.
    pub texts: Vec<(TextColumn, String)>,
}

/// Where a list goes on: the time of the last event, and how many of that time were listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPosition {
    pub at: Timestamp,
    pub listed: usize,
}

impl EventPosition {
    pub fn parse(text: &str) -> Option<Self> {
        let (at, listed) = text.split_once('.')?;
        Some(Self { at: Timestamp::from_ms(at.parse().ok()?), listed: listed.parse().ok()? })
    }

    pub fn write(self) -> String {
        format!("{}.{}", self.at.as_ms(), self.listed)
    }
}

/// Lists events, a part at a time.
#[derive(Debug)]
pub struct EventReader {
    scope: FoldScope,
    plan: Arc<ScanPlan>,
    logged: Arc<EventLogSnapshot>,
    /// Columns that are not shown.
    hidden: Vec<TextColumn>,
    /// Days that are left, the next one last.
    days: Vec<i64>,
    /// What is left of the day, the next one last: time, source and place in it.
    found: Vec<(i64, usize, usize)>,
    sources: Arc<Vec<EventSource>>,
    position: Option<EventPosition>,
}

/// Where events of a day are.
#[derive(Debug)]
enum EventSource {
    Block(Vec<EventColumn>),
    Row(Arc<[u8]>),
}

impl EventSource {
    fn decode(&self) -> EventBatch {
        let decoded = match self {
            Self::Block(columns) => {
                decode_columns(columns.iter().map(|column| (column.column, column.data.as_slice())))
            }
            Self::Row(data) => decode_row(data),
        };
        decoded.unwrap_or_default()
    }
}

impl App {
    /// A list of the events that a question is about, from a position on. Refused where no events are kept.
    pub async fn read_events(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        query: &AnalyticsQuery,
        position: Option<EventPosition>,
    ) -> Result<EventReader, AppError> {
        let scope = self.analytics_scope(caller, workspace, query.link).await?;
        let privacy = self.parts.store.find_privacy(&scope.workspace).await?.unwrap_or_default();
        if self.parts.policy.analytics.mode_with(privacy.mode) != AnalyticsMode::Events {
            let detail = "this workspace keeps sums of clicks, not the single ones";
            return Err(FieldError::new("workspace", "analytics-invalid", detail).into());
        }
        let off = privacy.panels_off.unwrap_or_default();
        let is_off = |column: &TextColumn| off.iter().any(|name| name == column.name());
        let (fold, links, _) = self.resolve_question(&scope, query).await?;
        let zone = Zone::find(&query.zone).unwrap_or_else(Zone::utc);
        let mut plan = self.plan(query, &zone, query.range, links);
        if let Some(position) = position {
            let end = Timestamp::from_ms(position.at.as_ms().saturating_add(1));
            plan.range.to = plan.range.to.min(end).max(plan.range.from);
        }
        let logged = self.read_event_log().await?;
        let stored = self.parts.store.list_event_days(&fold.workspace, plan.days()).await?;
        let mut days: Vec<i64> = stored.into_iter().map(|day| day.day).collect();
        let range = plan.days();
        days.extend(logged.days(&fold.workspace).into_iter().filter(|day| range.contains(day)));
        days.sort_unstable();
        days.dedup();
        Ok(EventReader {
            scope: fold,
            plan: Arc::new(plan),
            logged: Arc::new(logged),
            hidden: TextColumn::ALL.into_iter().filter(is_off).collect(),
            days,
            found: Vec::new(),
            sources: Arc::default(),
            position,
        })
    }
}

impl EventReader {
    /// The next events, at most so many; none when the list has ended.
    pub async fn next(&mut self, app: &App, most: usize) -> Result<Vec<ShownEvent>, AppError> {
        while self.found.is_empty() {
            let Some(day) = self.days.pop() else { return Ok(Vec::new()) };
            self.open_day(app, day).await?;
        }
        let part = self.found.split_off(self.found.len().saturating_sub(most));
        let sources = Arc::clone(&self.sources);
        let hidden = self.hidden.clone();
        let decode = move || decode_events(&sources, &part, &hidden);
        let events = blocking(decode).await?;
        let mut links: Vec<LinkId> = events.iter().map(|(link, _)| *link).collect();
        links.sort_unstable();
        links.dedup();
        let codes = app.parts.store.list_link_codes(&links).await?;
        let codes: HashMap<LinkId, String> = codes.into_iter().collect();
        let named = events.into_iter().map(|(link, event)| {
            let code = codes.get(&link).cloned();
            ShownEvent { link: code.unwrap_or_else(|| link.to_string()), ..event }
        });
        let events: Vec<ShownEvent> = named.collect();
        self.advance(&events);
        Ok(events)
    }

    /// Where the list goes on; `None` when it has ended.
    pub fn position(&self) -> Option<EventPosition> {
        self.position.filter(|_| !self.found.is_empty() || !self.days.is_empty())
    }

    fn advance(&mut self, events: &[ShownEvent]) {
        let Some(last) = events.last().map(|event| event.at) else { return };
        let same = events.iter().rev().take_while(|event| event.at == last).count();
        let before = self.position.filter(|position| position.at == last);
        let listed = same + before.map_or(0, |position| position.listed);
        self.position = Some(EventPosition { at: last, listed });
    }

    async fn open_day(&mut self, app: &App, day: i64) -> Result<(), AppError> {
        let store = &app.parts.store;
        let columns =
            store.list_event_columns(&self.scope.workspace, day..=day, ALL_COLUMNS).await?;
        let in_log = self.logged.of_day(&self.scope.workspace, day);
        let core = Arc::clone(&app.analytics.cores).acquire_owned().await;
        let plan = Arc::clone(&self.plan);
        let position = self.position;
        let find = move || {
            let _core = core;
            let mut found = find_events(&plan, day, columns, in_log);
            if let Some(position) = position {
                let listed =
                    found.0.iter().rev().take_while(|event| event.0 == position.at.as_ms());
                let listed = listed.count().min(position.listed);
                found.0.truncate(found.0.len() - listed);
            }
            found
        };
        let (found, sources) = blocking(find).await?;
        (self.found, self.sources) = (found, Arc::new(sources));
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| AppError::AnalyticsSlow)
}

/// The events of a day that are asked about, oldest first, and where they are.
fn find_events(
    plan: &ScanPlan,
    day: i64,
    columns: Vec<EventColumn>,
    in_log: Vec<(Arc<[u8]>, LinkSet)>,
) -> (Vec<(i64, usize, usize)>, Vec<EventSource>) {
    let mut scanner = Scanner::default();
    let mut sources = Vec::new();
    let mut found = Vec::new();
    let mut blocks: BTreeMap<i64, Vec<EventColumn>> = BTreeMap::new();
    for column in columns {
        blocks.entry(column.seq).or_default().push(column);
    }
    for block in blocks.into_values() {
        let events = block.first().map_or(0, |column| column.events);
        let data = block.iter().map(|column| (column.column, column.data.as_slice())).collect();
        let data = BlockColumns::stored(usize::try_from(events).unwrap_or(0), data);
        let matching = scanner.matching(plan, day, &data).unwrap_or_default();
        found.extend(matching.into_iter().map(|(at, event)| (at, sources.len(), event)));
        sources.push(EventSource::Block(block));
    }
    for (data, links) in in_log {
        let mut plan = plan.clone();
        plan.links.push(links);
        let matching = BlockColumns::row(&data)
            .and_then(|row| scanner.matching(&plan, day, &row))
            .unwrap_or_default();
        found.extend(matching.into_iter().map(|(at, event)| (at, sources.len(), event)));
        sources.push(EventSource::Row(data));
    }
    found.sort_unstable();
    (found, sources)
}

/// Events in the order in which they are listed: those of `part` from its end.
fn decode_events(
    sources: &[EventSource],
    part: &[(i64, usize, usize)],
    hidden: &[TextColumn],
) -> Vec<(LinkId, ShownEvent)> {
    let mut decoded: HashMap<usize, EventBatch> = HashMap::new();
    let mut events = Vec::new();
    for (_, source, event) in part.iter().rev() {
        let Some(place) = sources.get(*source) else { continue };
        let batch = decoded.entry(*source).or_insert_with(|| place.decode());
        events.extend(shown(batch, *event, hidden));
    }
    events
}

/// One event without the code of its link.
pub(super) fn shown(
    batch: &EventBatch,
    event: usize,
    hidden: &[TextColumn],
) -> Option<(LinkId, ShownEvent)> {
    let columns = TextColumn::ALL.into_iter().filter(|column| !hidden.contains(column));
    let texts = columns.map(|column| (column, batch.text(column, event)));
    let is_private = batch.texts.iter().any(|values| values.get(event) == PRIVATE);
    let known = texts.filter(|(_, text)| *text != UNKNOWN && *text != PRIVATE);
    let shown = ShownEvent {
        at: *batch.times.get(event)?,
        link: String::new(),
        visitor: batch.visitors.get(event).copied().unwrap_or(0),
        count: batch.counts.get(event).copied().unwrap_or(1),
        is_private,
        texts: known.map(|(column, text)| (column, text.to_owned())).collect(),
    };
    Some((*batch.links.get(event)?, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_written() {
        let position = EventPosition { at: Timestamp::from_ms(1_790_000_000_123), listed: 3 };
        assert_eq!(EventPosition::parse(&position.write()), Some(position));
        for bad in ["", "5", "a.b", "5.", "5.-1"] {
            assert_eq!(EventPosition::parse(bad), None, "{bad}");
        }
    }
}
