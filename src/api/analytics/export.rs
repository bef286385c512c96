//! `GET …/analytics/export`: the answer to a question as a file.

use std::fmt::Write;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use tokio::time::Instant;
use utoipa::IntoParams;

use crate::api::analytics::parameters::{QueryPairs, QuestionParams};
use crate::api::analytics::wire::AnalyticsBody;
use crate::api::call::{Call, WorkspacePath};
use crate::csv_cell::cell;
use crate::problem::{Problem, Problems};
use kurz_core::analytics::AnalyticsReport;
use kurz_core::analytics::calendar::Zone;

/// How the answer is sent.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described in the OpenAPI document, read as pairs")]
pub(crate) struct ExportParams {
    /// `csv` (if you say nothing) or `json`.
    #[param(pattern = "^(csv|json)$")]
    format: Option<String>,
    /// The code of the only link that it is about.
    link: Option<String>,
}

/// What a page of analytics shows, as a file: in CSV a line for each point of the series and each row of a group.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/analytics/export", tag = "analytics",
    operation_id = "export_analytics",
    params(WorkspacePath, ExportParams, QuestionParams),
    responses((status = 200, description = "The answer.", content(
        (AnalyticsBody = "application/json"), (String = "text/csv"))), Problems))]
pub(crate) async fn export(
    Call { app, caller, path }: Call<WorkspacePath>,
    mut pairs: QueryPairs,
) -> Result<Response, Problem> {
    let start = Instant::now();
    let format = pairs.take("format");
    let link = pairs.take("link");
    let workspace = path.workspace()?;
    let query = app.analytics_question(&caller, &workspace, link.as_deref(), &pairs.0).await?;
    let report = app.analytics(&caller, &workspace, &query).await?;
    let named = |kind: &'static str, name: &'static str| {
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
            (header::CONTENT_DISPOSITION, HeaderValue::from_static(name)),
        ]
    };
    match format.as_deref() {
        None | Some("csv") => {
            let headers =
                named("text/csv; charset=utf-8", "attachment; filename=\"analytics.csv\"");
            Ok((headers, csv(&report)).into_response())
        }
        Some("json") => {
            let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            let headers = named("application/json", "attachment; filename=\"analytics.json\"");
            Ok((headers, axum::Json(AnalyticsBody::new(report, ms))).into_response())
        }
        Some(_) => {
            let detail = "`format` is csv or json.";
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "analytics-invalid", detail))
        }
    }
}

/// Points have the group `time`; what is not a row has an empty value.
fn csv(report: &AnalyticsReport) -> String {
    let zone = Zone::find(&report.zone).unwrap_or_else(Zone::utc);
    let mut text = "group,value,clicks,visitors,bots,clicks_before\r\n".to_owned();
    let before = |clicks: Option<u64>| clicks.map_or_else(String::new, |clicks| clicks.to_string());
    for point in &report.series {
        let (start, sums) = (zone.to_rfc3339(point.start), point.sums);
        let before = before(point.before.map(|sums| sums.clicks));
        let (clicks, visitors, bots) = (sums.clicks, sums.visitors, sums.bots);
        let _ = write!(text, "time,{start},{clicks},{visitors},{bots},{before}\r\n");
    }
    for group in &report.groups {
        let name = group.dimension.name();
        for row in &group.rows {
            let (value, before) = (cell(&row.value), before(row.before));
            let _ = write!(text, "{name},{value},{},{},,{before}\r\n", row.clicks, row.visitors);
        }
    }
    text
}
