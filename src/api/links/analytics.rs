//! `GET …/links/{code}/stats`: how often a link was followed.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::call::{Call, JsonResult, LinkPath};
use crate::api::input::Params;
use crate::api::time::Time;
use crate::app::{Bucket, Granularity, LinkAnalytics};
use crate::problem::{Problem, Problems};

/// What to count by.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsParams {
    /// `hour` (the last 48), `day` (the last 30, if you say nothing) or `month` (the last 12).
    #[param(pattern = "^(hour|day|month)$")]
    by: Option<String>,
}

/// What was counted in one hour, day or month of UTC.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PeriodBody {
    /// When it begins.
    start: Time,
    /// Redirects.
    hits: i64,
    /// Those of them that were declared bots or prefetches.
    others: i64,
}

impl From<Bucket> for PeriodBody {
    fn from(bucket: Bucket) -> Self {
        Self { start: bucket.start.into(), hits: bucket.clicks, others: bucket.others }
    }
}

/// The counts of a link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinkStats {
    /// Redirects so far.
    redirect_count: i64,
    /// Their mean latency on the server, in milliseconds.
    avg_redirect_ms: f64,
    /// The latest of them.
    last_redirect_at: Option<Time>,
    /// How often it may be followed in a UTC calendar month; 0: any number of times.
    hit_limit: i64,
    /// How often it was followed in this month.
    hits_this_month: i64,
    /// Those of them that were declared bots or prefetches.
    others: i64,
    /// The same over time, oldest first, without gaps.
    periods: Vec<PeriodBody>,
}

/// The counts of a link.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/links/{code}/stats", tag = "links",
    operation_id = "link_stats",
    params(LinkPath, StatsParams),
    responses((status = 200, description = "The counts.", body = LinkStats), Problems))]
pub(crate) async fn analytics(
    Call { app, caller, path }: Call<LinkPath>,
    Params(params): Params<StatsParams>,
) -> JsonResult<LinkStats> {
    let span = Granularity::parse(params.by.as_deref().unwrap_or("day")).ok_or_else(|| {
        let detail = "`by` is hour, day or month.";
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "query-invalid", detail)
    })?;
    let traffic = app.link_analytics(&caller, &path.workspace()?, &path.code, span).await?;
    let LinkAnalytics { shown, others, periods } = traffic;
    Ok(axum::Json(LinkStats {
        redirect_count: shown.link.redirect_count,
        avg_redirect_ms: shown.link.avg_redirect_ms,
        last_redirect_at: shown.link.last_redirect_at.map(Time::from),
        hit_limit: shown.hit_limit,
        hits_this_month: shown.hits_this_month,
        others,
        periods: periods.into_iter().map(PeriodBody::from).collect(),
    }))
}
