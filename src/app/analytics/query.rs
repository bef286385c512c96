//! Answers questions about clicks: who may ask, which links it is about, and the rows of its groups.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::time::timeout;

use crate::app::analytics::day_scan::{FoldScope, FoldedRange};
use crate::app::analytics::engine::TIME_LIMIT;
use crate::app::analytics::log_events::EventLogSnapshot;
use crate::app::analytics::question::{QuestionContext, read_question};
use crate::app::{App, AppError, FieldError, MAIN, Resource};
use crate::store::ListScope;
use kurz_core::account::{Act, Caller, Reach, Refused, UserId, access};
use kurz_core::analytics::assemble::{RankedGroup, by_tag, report};
use kurz_core::analytics::calendar::Zone;
use kurz_core::analytics::day_partial::{RangeSums, RowKeys, ShownRows};
use kurz_core::analytics::scan_plan::{LinkSet, ScanPlan};
use kurz_core::analytics::value_counts::{GroupCounts, ValueCounts};
use kurz_core::analytics::{
    AnalyticsQuery, AnalyticsReport, Dimension, EventFilter, FilterValue, RowOrder, TimeRange,
};
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::link::LinkId;
use kurz_core::time::Timestamp;

/// Points that a series may have: more than a question may ask for, since a range to compare with may be cut
/// differently.
const MOST_POINTS: usize = 2_000;
/// How often a question is asked again because events moved from the log to a block meanwhile.
const TRIES: usize = 3;
/// How many more rows are looked at than are shown when they are ordered by visitors.
const CANDIDATES: usize = 4;

/// Whose clicks a question is about.
#[derive(Clone, Debug)]
pub(crate) struct AnalyticsScope {
    pub(crate) workspace: WorkspaceId,
    /// Only links of this user, in `main`.
    pub(crate) owner: Option<UserId>,
    /// Who asks: one question of an account at a time.
    pub(crate) account: Option<UserId>,
}

impl App {
    /// The question that the parameters ask about a workspace, or about one of its links. Parameters are those
    /// of [`crate::app::QUESTION_PARAMETERS`].
    pub async fn analytics_question(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: Option<&str>,
        parameters: &[(String, String)],
    ) -> Result<AnalyticsQuery, AppError> {
        let (since, link) = if let Some(code) = code {
            let (_, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
            (link.created_at, Some(link.id))
        } else {
            let (workspace, _) = self.enter(caller, workspace, Act::ReadLinks).await?;
            (workspace.created_at, None)
        };
        let context = QuestionContext { now: self.parts.clock.now(), since, link };
        read_question(parameters.iter().map(|(name, value)| (&**name, &**value)), &context)
    }

    /// What is known about the clicks on a workspace's links, as far as the caller may see them.
    pub async fn analytics(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        query: &AnalyticsQuery,
    ) -> Result<AnalyticsReport, AppError> {
        let scope = self.analytics_scope(caller, workspace, query.link).await?;
        self.answer_question(&scope, query).await
    }

    /// What the caller may see of a workspace, and whether the link is part of it.
    pub(crate) async fn analytics_scope(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        link: Option<LinkId>,
    ) -> Result<AnalyticsScope, AppError> {
        let (workspace, reach) = self.enter(caller, workspace, Act::ReadLinks).await?;
        if let Some(id) = link {
            let found = self.parts.store.find_link_by_id(id).await?;
            let found = found.filter(|link| link.workspace == workspace.id);
            access::to_link(reach, found.ok_or(AppError::NotFound(Resource::Link))?.owner)?;
        }
        let owner = match reach {
            Reach::All => None,
            Reach::Own(owner) => Some(owner),
            Reach::Nobodys => return Err(Refused::Unauthenticated.into()),
        };
        Ok(AnalyticsScope { workspace: workspace.id, owner, account: caller.owner() })
    }

    /// The answer, for somebody who may have it.
    pub(crate) async fn answer_question(
        &self,
        scope: &AnalyticsScope,
        query: &AnalyticsQuery,
    ) -> Result<AnalyticsReport, AppError> {
        let answer = async {
            let _running = self.analytics.questions.wait(scope.account).await?;
            let mut tries = 0;
            loop {
                tries += 1;
                let logged = Arc::new(self.read_event_log().await?);
                let report = self.answer(scope, query, &logged).await?;
                if tries >= TRIES || self.is_still_logged(&logged).await? {
                    return Ok(report);
                }
            }
        };
        timeout(TIME_LIMIT, answer).await.unwrap_or(Err(AppError::AnalyticsSlow))
    }

    async fn answer(
        &self,
        scope: &AnalyticsScope,
        query: &AnalyticsQuery,
        logged: &Arc<EventLogSnapshot>,
    ) -> Result<AnalyticsReport, AppError> {
        let (fold, links, tags) = self.resolve_question(scope, query).await?;
        self.assemble(&[fold], query, links, &tags, logged).await
    }

    /// Whose clicks, which links, and their tags if they are asked for.
    pub(super) async fn resolve_question(
        &self,
        scope: &AnalyticsScope,
        query: &AnalyticsQuery,
    ) -> Result<(FoldScope, Vec<LinkSet>, HashMap<LinkId, Vec<String>>), AppError> {
        self.check_panels(scope, query).await?;
        let list = match scope.owner {
            Some(owner) => ListScope::Own(owner),
            None if scope.workspace.as_str() == MAIN => ListScope::Main,
            None => ListScope::Workspace(scope.workspace.clone()),
        };
        let fold = FoldScope {
            workspace: scope.workspace.clone(),
            list,
            link: query.link,
            is_filtered: !query.filters.is_empty(),
        };
        let tags = self.tags_if_asked(scope, query).await?;
        let links = self.link_sets(&fold, scope, query, &tags).await?;
        Ok((fold, links, tags))
    }

    /// Dimensions that a workspace does not show are neither grouped nor filtered by.
    async fn check_panels(
        &self,
        scope: &AnalyticsScope,
        query: &AnalyticsQuery,
    ) -> Result<(), AppError> {
        let privacy = self.parts.store.find_privacy(&scope.workspace).await?;
        let off = privacy.and_then(|privacy| privacy.panels_off).unwrap_or_default();
        let filters = query.filters.iter().map(|filter| filter.dimension);
        let asked = query.groups.iter().copied().chain(filters);
        let hidden = asked.map(Dimension::name).find(|name| off.iter().any(|off| off == name));
        match hidden {
            None => Ok(()),
            Some(name) => {
                let detail = format!("this workspace does not show `{name}`");
                Err(FieldError::new("group", "analytics-invalid", detail).into())
            }
        }
    }

    /// The answer about the clicks of some workspaces.
    pub(super) async fn assemble(
        &self,
        fold: &[FoldScope],
        query: &AnalyticsQuery,
        links: Vec<LinkSet>,
        tags: &HashMap<LinkId, Vec<String>>,
        logged: &Arc<EventLogSnapshot>,
    ) -> Result<AnalyticsReport, AppError> {
        let zone = Zone::find(&query.zone).unwrap_or_else(Zone::utc);
        let plan = |range| Arc::new(self.plan(query, &zone, range, links.clone()));
        let main = plan(query.range);
        let FoldedRange { sums, exact } = self.fold_range(fold, &main, logged).await?;
        let before = match zone.compared(query.range, query.compare) {
            None => None,
            Some(range) => match self.fold_range(fold, &plan(range), logged).await {
                // What it would be compared with cannot be filtered any more.
                Err(AppError::Invalid(_)) => None,
                folded => Some(folded?),
            },
        };
        let exact = exact && before.as_ref().is_none_or(|before| before.exact);
        let before = before.map(|before| before.sums);

        let mut report = report(query, &main, &sums, before.as_ref(), exact);
        let ranked = rank(query, &sums, before.as_ref(), tags);
        let shown = RowsAsked { fold, plan: &main, logged, tags, query };
        let (ranked, visitors) = self.row_visitors(&shown, ranked).await?;
        for (place, (dimension, group)) in query.groups.iter().zip(ranked).enumerate() {
            let visitors = visitors.get(place);
            let of_row = |row: usize| visitors.and_then(|rows| rows.get(row)).copied().unwrap_or(0);
            report.groups.push(group.report(*dimension, query.offset, query.limit, of_row));
        }
        self.name_links(&mut report).await?;
        Ok(report)
    }

    pub(super) fn plan(
        &self,
        query: &AnalyticsQuery,
        zone: &Zone,
        range: TimeRange,
        links: Vec<LinkSet>,
    ) -> ScanPlan {
        let buckets = zone.buckets(range, query.interval, MOST_POINTS).unwrap_or_default();
        let is_text = |filter: &&EventFilter| matches!(filter.dimension, Dimension::Text(_));
        ScanPlan {
            range,
            buckets: buckets.into_iter().map(Timestamp::as_ms).collect(),
            basis: self.parts.policy.analytics.period,
            links,
            class: query.class,
            filters: query.filters.iter().filter(is_text).cloned().collect(),
            groups: query.groups.clone(),
        }
    }

    /// The tags of links, if anything asks for them.
    async fn tags_if_asked(
        &self,
        scope: &AnalyticsScope,
        query: &AnalyticsQuery,
    ) -> Result<HashMap<LinkId, Vec<String>>, AppError> {
        let is_filtered = query.filters.iter().any(|filter| filter.dimension == Dimension::Tag);
        let mut tags: HashMap<LinkId, Vec<String>> = HashMap::new();
        if is_filtered || query.groups.contains(&Dimension::Tag) {
            for (link, tag) in self.parts.store.list_tagged_links(&scope.workspace).await? {
                tags.entry(link).or_default().push(tag);
            }
        }
        Ok(tags)
    }

    /// The links that the question is about: one, those of a user, and those that filters name.
    async fn link_sets(
        &self,
        fold: &FoldScope,
        scope: &AnalyticsScope,
        query: &AnalyticsQuery,
        tags: &HashMap<LinkId, Vec<String>>,
    ) -> Result<Vec<LinkSet>, AppError> {
        let mut sets = Vec::new();
        sets.extend(query.link.map(|link| LinkSet::new(vec![link], false)));
        if scope.owner.is_some() {
            sets.push(LinkSet::new(self.parts.store.list_own_links(&fold.list).await?, false));
        }
        for filter in &query.filters {
            match filter.dimension {
                Dimension::Text(_) => {}
                Dimension::Tag => sets.push(tagged(filter, tags)),
                Dimension::Link => {
                    let links = self.links_by_code(&scope.workspace, filter).await?;
                    sets.push(LinkSet::new(links, filter.not));
                }
            }
        }
        Ok(sets)
    }

    async fn links_by_code(
        &self,
        workspace: &WorkspaceId,
        filter: &EventFilter,
    ) -> Result<Vec<LinkId>, AppError> {
        let mut links = Vec::new();
        for value in &filter.values {
            let FilterValue::Exactly(code) = value else {
                let detail = "links are filtered by whole codes, without a star";
                return Err(FieldError::new("filter", "filter-invalid", detail).into());
            };
            if let Some(code) = Code::parse(code) {
                let found = self.parts.store.find_link(workspace, &code).await?;
                links.extend(found.map(|link| link.id));
            }
        }
        Ok(links)
    }

    /// The visitors of the rows that are shown, in the order in which they are.
    async fn row_visitors(
        &self,
        asked: &RowsAsked<'_>,
        mut ranked: Vec<RankedGroup>,
    ) -> Result<(Vec<RankedGroup>, Vec<Vec<u64>>), AppError> {
        let query = asked.query;
        if query.order != RowOrder::Visitors {
            let visitors = self.visitors_of(asked, &ranked, query.offset, query.limit).await?;
            return Ok((ranked, visitors));
        }
        let shown = query.offset + query.limit;
        let mut most = shown * CANDIDATES;
        loop {
            let mut visitors = self.visitors_of(asked, &ranked, 0, most).await?;
            let mut settled = ranked.clone();
            let mut is_settled = true;
            for (group, visitors) in settled.iter_mut().zip(&mut visitors) {
                is_settled &= group.rank_by_visitors(visitors, shown);
            }
            if is_settled {
                ranked = settled;
                for visitors in &mut visitors {
                    visitors.drain(..query.offset.min(visitors.len()));
                }
                return Ok((ranked, visitors));
            }
            most *= CANDIDATES;
        }
    }

    /// The visitors of some rows of each group.
    async fn visitors_of(
        &self,
        asked: &RowsAsked<'_>,
        ranked: &[RankedGroup],
        skip: usize,
        most: usize,
    ) -> Result<Vec<Vec<u64>>, AppError> {
        let keys = asked.query.groups.iter().zip(ranked).map(|(dimension, group)| {
            let keys = group.keys(skip, most);
            match (dimension, keys) {
                (Dimension::Tag, RowKeys::Texts(tags)) => links_of_tags(&tags, asked.tags),
                (_, keys) => keys,
            }
        });
        let rows = ShownRows { groups: keys.collect() };
        let sizes: Vec<usize> = rows.groups.iter().map(RowKeys::len).collect();
        if sizes.iter().all(|size| *size == 0) {
            return Ok(sizes.iter().map(|_| Vec::new()).collect());
        }
        let sums: RangeSums = self.fold_rows(asked.fold, asked.plan, asked.logged, rows).await?;
        let of_group = |(group, size): (usize, &usize)| {
            (0..*size).map(|row| sums.row_visitors(group, row)).collect()
        };
        Ok(sizes.iter().enumerate().map(of_group).collect())
    }

    /// Links are shown by their codes.
    async fn name_links(&self, report: &mut AnalyticsReport) -> Result<(), AppError> {
        let groups = report.groups.iter_mut().filter(|group| group.dimension == Dimension::Link);
        for group in groups {
            let id = |value: &str| value.parse().ok().map(LinkId);
            let ids: Vec<LinkId> = group.rows.iter().filter_map(|row| id(&row.value)).collect();
            let codes = self.parts.store.list_link_codes(&ids).await?;
            let codes: BTreeMap<LinkId, String> = codes.into_iter().collect();
            for row in &mut group.rows {
                if let Some(code) = id(&row.value).and_then(|id| codes.get(&id)) {
                    row.value.clone_from(code);
                }
            }
        }
        Ok(())
    }
}

/// Whose rows the visitors are asked of.
struct RowsAsked<'a> {
    fold: &'a [FoldScope],
    plan: &'a Arc<ScanPlan>,
    logged: &'a Arc<EventLogSnapshot>,
    tags: &'a HashMap<LinkId, Vec<String>>,
    query: &'a AnalyticsQuery,
}

/// The groups with their rows in order.
fn rank(
    query: &AnalyticsQuery,
    sums: &RangeSums,
    before: Option<&RangeSums>,
    tags: &HashMap<LinkId, Vec<String>>,
) -> Vec<RankedGroup> {
    let tags_of = |link: LinkId| tags.get(&link).cloned().unwrap_or_default();
    let total = sums.total().clicks;
    let rank = |(place, dimension): (usize, &Dimension)| {
        let Some(counts) = sums.groups.get(place) else { return RankedGroup::default() };
        let earlier = before.and_then(|before| before.groups.get(place));
        // A time without any clicks has no groups.
        let none = GroupCounts::Texts(ValueCounts::default());
        let earlier = before.map(|_| earlier.unwrap_or(&none));
        if *dimension == Dimension::Tag {
            let earlier = earlier.map(|earlier| by_tag(earlier, tags_of));
            let counts = by_tag(counts, tags_of);
            return RankedGroup::new(&counts, earlier.as_ref(), query.order).of_total(total);
        }
        RankedGroup::new(counts, earlier, query.order)
    };
    query.groups.iter().enumerate().map(rank).collect()
}

fn tagged(filter: &EventFilter, tags: &HashMap<LinkId, Vec<String>>) -> LinkSet {
    let matches = |tag: &String| filter.values.iter().any(|value| value.matches(tag));
    // Links without a tag are those that are not in the list.
    let asks_untagged = filter.values.iter().any(|value| value.matches(""));
    let has = |tags: &Vec<String>| tags.iter().any(matches);
    if asks_untagged {
        let others = tags.iter().filter(|(_, tags)| !has(tags)).map(|(link, _)| *link);
        return LinkSet::new(others.collect(), !filter.not);
    }
    let links = tags.iter().filter(|(_, tags)| has(tags)).map(|(link, _)| *link);
    LinkSet::new(links.collect(), filter.not)
}

fn links_of_tags(shown: &[Box<str>], tags: &HashMap<LinkId, Vec<String>>) -> RowKeys {
    let links = |tag: &str| {
        let has = |(_, tags): &(&LinkId, &Vec<String>)| tags.iter().any(|one| one == tag);
        let mut links: Vec<LinkId> = tags.iter().filter(has).map(|(link, _)| *link).collect();
        links.sort_unstable();
        links
    };
    RowKeys::Links(shown.iter().map(|tag| links(tag)).collect())
}
