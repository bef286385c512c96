//! `GET …/analytics/orphans`: addresses on a workspace's own hosts that lead to no link.

use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::analytics::parameters::QueryPairs;
use crate::api::call::{Call, JsonResult, WorkspacePath};
use crate::app::{AppError, FieldError};
use crate::problem::Problems;
use kurz_core::analytics::calendar::Zone;
use kurz_core::analytics::orphans::OrphanRow;

const PARAMETERS: [&str; 4] = ["from", "to", "zone", "limit"];

/// Which time, and how many.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described in the OpenAPI document, read by `app::read_question`")]
pub(crate) struct OrphanParams {
    /// When the range begins, as for `analytics`; `30d` if you say nothing.
    #[param(example = "30d")]
    from: Option<String>,
    /// When the range ends; that moment is not part of it.
    to: Option<String>,
    /// The time zone of dates, by its IANA name; UTC if you say nothing.
    #[param(example = "Europe/Berlin")]
    zone: Option<String>,
    /// Rows: 1 to 1,000, 10 if you say nothing.
    #[param(pattern = "^[0-9]*$")]
    limit: Option<String>,
}

/// Addresses that lead to no link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrphansBody {
    /// When the range begins. Orphans are counted by UTC day: each day that the range touches is in it.
    from: String,
    to: String,
    /// All requests that were answered with 404.
    misses: u64,
    /// The most frequent ones first.
    rows: Vec<OrphanBody>,
    /// Misses that are in no row: further addresses, and those beyond 1,000 paths of a host on one day.
    rest: u64,
}

/// An address that leads to no link.
#[derive(Debug, Serialize, ToSchema)]
struct OrphanBody {
    host: String,
    path: String,
    misses: u64,
}

/// Addresses on the workspace's own hosts that were asked for and lead to no link: misspelt ones, and links that were
/// never made.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/analytics/orphans", tag = "analytics",
    operation_id = "orphans",
    params(WorkspacePath, OrphanParams),
    responses((status = 200, description = "The orphans.", body = OrphansBody), Problems))]
pub(crate) async fn orphans(
    Call { app, caller, path }: Call<WorkspacePath>,
    QueryPairs(pairs): QueryPairs,
) -> JsonResult<OrphansBody> {
    if pairs.iter().any(|(name, _)| !PARAMETERS.contains(&name.as_str())) {
        let detail = "orphans can be asked for with from, to, zone and limit";
        return Err(AppError::from(FieldError::new("query", "query-invalid", detail)).into());
    }
    let workspace = path.workspace()?;
    let query = app.analytics_question(&caller, &workspace, None, &pairs).await?;
    let report = app.orphans(&caller, &workspace, &query).await?;
    let zone = Zone::find(&query.zone).unwrap_or_else(Zone::utc);
    let row = |OrphanRow { host, path, misses }| OrphanBody { host, path, misses };
    Ok(axum::Json(OrphansBody {
        from: zone.to_rfc3339(query.range.from),
        to: zone.to_rfc3339(query.range.to),
        misses: report.total,
        rows: report.rows.into_iter().map(row).collect(),
        rest: report.rest,
    }))
}
