//! `DELETE …/analytics`: remove what is known about clicks.

use http::StatusCode;
use utoipa::IntoParams;

use crate::api::analytics::parameters::QueryPairs;
use crate::api::call::{Call, EmptyResult, WorkspacePath};
use crate::problem::{Problem, Problems};
use kurz_core::analytics::TimeRange;
use kurz_core::time::Timestamp;

/// What to remove.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described in the OpenAPI document, read as pairs")]
pub(crate) struct DeleteParams {
    /// Details of clicks from this time on (RFC 3339); from the first one on if you say nothing.
    from: Option<String>,
    /// Details of clicks before this time; of all up to now if you say nothing.
    to: Option<String>,
    /// The code of the only link whose details are removed.
    link: Option<String>,
}

/// Remove the details of clicks: within an hour only their number is left. Takes the role `admin`. It is noted in the
/// audit log.
#[utoipa::path(delete, path = "/api/v1/workspaces/{workspace}/analytics", tag = "analytics",
    operation_id = "delete_analytics",
    params(WorkspacePath, DeleteParams),
    responses((status = 202, description = "It will be done within an hour."), Problems))]
pub(crate) async fn delete(
    Call { app, caller, path }: Call<WorkspacePath>,
    mut pairs: QueryPairs,
) -> EmptyResult {
    let moment = |text: Option<String>, otherwise: Timestamp| match text {
        None => Ok(otherwise),
        Some(text) => Timestamp::parse_rfc3339(&text).ok_or_else(|| {
            let detail = "A time is written 2026-11-01T00:00:00Z.";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "range-invalid", detail)
        }),
    };
    let from = moment(pairs.take("from"), Timestamp::from_ms(0))?;
    let to = moment(pairs.take("to"), app.now())?;
    let link = pairs.take("link");
    if !pairs.0.is_empty() {
        let detail = "The query string has an unknown parameter.";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "query-invalid", detail));
    }
    let range = TimeRange { from, to };
    app.delete_analytics(&caller, &path.workspace()?, link.as_deref(), range).await?;
    Ok(StatusCode::ACCEPTED)
}
