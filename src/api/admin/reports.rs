//! `…/admin/reports`: what visitors report, and saying that there is nothing to it.

use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::call::{Call, EmptyResult, JsonResult, LinkPath};
use crate::api::links::LinkBody;
use crate::api::time::Time;
use crate::app::{Report, ReportedLink};
use crate::problem::Problems;

/// A report.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportBody {
    /// `abuse`, `malware`, `phishing`, `legal` or `other`.
    reason: String,
    /// What was said.
    words: String,
    /// When.
    at: Time,
    /// The address that it came from.
    client: Option<String>,
}

impl From<Report> for ReportBody {
    fn from(report: Report) -> Self {
        let Report { reason, words, at, client } = report;
        Self { reason, words, at: at.into(), client }
    }
}

/// A link that was reported.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportedBody {
    /// The link.
    link: LinkBody,
    /// How many reports are open; of one address one.
    count: i64,
    /// The first of them.
    first_at: Time,
    /// The latest.
    last_at: Time,
    /// The latest 20, newest first.
    reports: Vec<ReportBody>,
}

impl From<ReportedLink> for ReportedBody {
    fn from(reported: ReportedLink) -> Self {
        Self {
            link: reported.shown.into(),
            count: reported.count,
            first_at: reported.first_at.into(),
            last_at: reported.last_at.into(),
            reports: reported.reports.into_iter().map(ReportBody::from).collect(),
        }
    }
}

/// What is to be looked into.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReportList {
    /// The 50 most reported links.
    links: Vec<ReportedBody>,
    /// How many reports are open in all.
    open: i64,
}

/// List the links that visitors reported, the most reported first. Takes an administrator of the server.
#[utoipa::path(get, path = "/api/v1/admin/reports", tag = "administration",
    operation_id = "list_reports",
    responses((status = 200, description = "The queue.", body = ReportList), Problems))]
pub(crate) async fn list(Call { app, caller, .. }: Call) -> JsonResult<ReportList> {
    let queue = app.report_queue(&caller).await?;
    let links = queue.links.into_iter().map(ReportedBody::from).collect();
    Ok(axum::Json(ReportList { links, open: queue.open }))
}

/// Dismiss the reports of a link. Takes an administrator of the server. Disabling the link settles them
/// as well.
#[utoipa::path(post, path = "/api/v1/workspaces/{workspace}/links/{code}/reports/dismiss",
    tag = "administration", operation_id = "dismiss_reports",
    params(LinkPath),
    responses((status = 204, description = "Dismissed."), Problems))]
pub(crate) async fn dismiss(Call { app, caller, path }: Call<LinkPath>) -> EmptyResult {
    app.dismiss_reports(&caller, &path.workspace()?, &path.code).await?;
    Ok(StatusCode::NO_CONTENT)
}
