//! Results of a link's splits: clicks and visitors of each variant, and whether visitors were drawn as the weights say.

use crate::app::{App, AppError};
use kurz_core::account::{Act, Caller};
use kurz_core::analytics::{
    AnalyticsQuery, Class, Comparison, Dimension, EventFilter, FilterValue, Interval, RowOrder,
    TextColumn, TimeRange,
};
use kurz_core::code::WorkspaceId;
use kurz_core::plan::{PlanDocument, Split, VARIANTS, sample_ratio_p};

/// From this probability on down the draw itself is in doubt.
const DOUBTFUL: f64 = 0.001;

/// The results of one split.
#[derive(Clone, Debug)]
pub struct SplitResults {
    /// The place and the name of its rule; `None`: the link's own.
    pub rule: Option<(usize, Option<String>)>,
    pub variants: Vec<VariantResult>,
    /// How probable a difference from the weights as large as this is by chance; `None` without clicks.
    pub p: Option<f64>,
    /// Whether bots or caches may be at work.
    pub is_doubtful: bool,
}

#[derive(Clone, Debug)]
pub struct VariantResult {
    pub name: String,
    pub weight: u16,
    pub clicks: u64,
    pub visitors: u64,
    /// Of the clicks of the split.
    pub share: f64,
    /// The share that the weights ask for.
    pub aim: f64,
}

impl App {
    /// The results of all splits of a link, in the order of its rules, its own last.
    pub async fn split_results(
        &self,
        caller: &Caller,
        workspace: &WorkspaceId,
        code: &str,
    ) -> Result<Vec<SplitResults>, AppError> {
        let (_, link) = self.reach_link(caller, workspace, code, Act::ReadLinks).await?;
        let document = Self::plan_document(link.plan.as_ref())?;
        let mut results = Vec::new();
        for (rule, split) in document.splits() {
            let to = self.parts.clock.now().plus(std::time::Duration::from_hours(1));
            let name = rule.map(|at| rule_value(&document, at)).unwrap_or_default();
            let filter = EventFilter {
                dimension: Dimension::Text(TextColumn::Rule),
                not: false,
                values: vec![FilterValue::Exactly(name.into())],
            };
            // The sums of old days know no filters, and one split needs none.
            let is_only = document.splits().count() == 1;
            let filters = if is_only { Vec::new() } else { vec![filter] };
            let query = AnalyticsQuery {
                range: TimeRange { from: link.created_at, to },
                interval: Interval::Month,
                zone: "UTC".to_owned(),
                link: Some(link.id),
                groups: vec![Dimension::Text(TextColumn::Variant)],
                limit: 4 * VARIANTS,
                offset: 0,
                order: RowOrder::Clicks,
                filters,
                compare: Comparison::None,
                class: Some(Class::Person),
            };
            let report = self.analytics(caller, workspace, &query).await?;
            let rows = report.groups.into_iter().next().map(|group| group.rows).unwrap_or_default();
            let found = |name: &str| {
                let row = rows.iter().find(|row| row.value == name);
                row.map_or((0, 0), |row| (row.clicks, row.visitors))
            };
            let own_name = |at: usize| document.rules.get(at).and_then(|rule| rule.name.clone());
            results.push(of_split(rule.map(|at| (at, own_name(at))), split, found));
        }
        Ok(results)
    }
}

/// What the rule of an event is called, as the writer names it.
fn rule_value(document: &PlanDocument, at: usize) -> String {
    let name = document.rules.get(at).and_then(|rule| rule.name.clone());
    name.unwrap_or_else(|| format!("#{}", at + 1))
}

fn of_split(
    rule: Option<(usize, Option<String>)>,
    split: &Split,
    found: impl Fn(&str) -> (u64, u64),
) -> SplitResults {
    let weights: Vec<f64> = split.variants.iter().map(|it| f64::from(it.weight)).collect();
    let counts: Vec<u64> = split.variants.iter().map(|it| found(&it.name).0).collect();
    let (weight, clicks) = (weights.iter().sum::<f64>(), counts.iter().sum::<u64>());
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let variants = split.variants.iter().map(|variant| {
        let (own, visitors) = found(&variant.name);
        VariantResult {
            name: variant.name.clone(),
            weight: variant.weight,
            clicks: own,
            visitors,
            share: share(as_float(own), as_float(clicks)),
            aim: share(f64::from(variant.weight), weight),
        }
    });
    let p = sample_ratio_p(&counts, &weights);
    SplitResults {
        rule,
        variants: variants.collect(),
        p,
        is_doubtful: p.is_some_and(|p| p < DOUBTFUL),
    }
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "shares are not exact")]
fn as_float(count: u64) -> f64 {
    count as f64
}
