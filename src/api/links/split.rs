//! `GET …/links/{code}/split`: results of a link's splits, by variant.

use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, JsonResult, LinkPath};
use crate::app::{SplitResults, VariantResult};
use crate::problem::Problems;

/// The results of all splits of a link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SplitsBody {
    splits: Vec<SplitResultsBody>,
}

/// The results of one split. They count clicks of people; kurz does not know what happens behind a target. A visitor
/// whose address changes may change sides.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SplitResultsBody {
    /// The place of its rule; null: the link's own split.
    rule: Option<usize>,
    /// The name of its rule.
    name: Option<String>,
    variants: Vec<VariantResultBody>,
    /// How probable it is that visitors differ from the weights as much as this by chance.
    sample_ratio_p: Option<f64>,
    /// Whether that is below 0.001, which mostly means bots or caches.
    sample_ratio_warning: bool,
}

/// What one variant got.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VariantResultBody {
    name: String,
    weight: u16,
    clicks: u64,
    visitors: u64,
    /// Of the clicks of the split, 0 to 1.
    share: f64,
    /// The share that the weights ask for.
    share_aimed_at: f64,
}

impl From<VariantResult> for VariantResultBody {
    fn from(variant: VariantResult) -> Self {
        let VariantResult { name, weight, clicks, visitors, share, aim } = variant;
        Self { name, weight, clicks, visitors, share, share_aimed_at: aim }
    }
}

impl From<SplitResults> for SplitResultsBody {
    fn from(results: SplitResults) -> Self {
        let (rule, name) = results.rule.unzip();
        Self {
            rule,
            name: name.flatten(),
            variants: results.variants.into_iter().map(VariantResultBody::from).collect(),
            sample_ratio_p: results.p,
            sample_ratio_warning: results.is_doubtful,
        }
    }
}

/// Clicks and visitors of each variant of a link's splits, since the link was made.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/split", tag = "links",
    operation_id = "link_split",
    params(LinkPath),
    responses((status = 200, description = "The results.", body = SplitsBody), Problems))]
pub(crate) async fn split(Call { app, caller, path }: Call<LinkPath>) -> JsonResult<SplitsBody> {
    let results = app.split_results(&caller, &path.workspace()?, &path.code).await?;
    Ok(axum::Json(SplitsBody { splits: results.into_iter().map(SplitResultsBody::from).collect() }))
}
