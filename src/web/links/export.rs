//! `/app/w/{workspace}/export.csv` and `.json`: all links of a list, filtered as it is, sent while
//! they are read.
//!
//! Invariant: no cell of the CSV is a formula to any spreadsheet, whatever a title says.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Uri, header};
use serde::Serialize;

use crate::app::{App, AppError, LinkFilter, ShownLink};
use crate::web::errors::PageError;
use crate::web::links::WorkspaceView;
use crate::web::links::csv_cell::cell;
use crate::web::links::list::LinkQuery;
use crate::web::visitor::LoggedIn;
use kurz_core::account::Caller;
use kurz_core::code::{Code, WorkspaceId};
use kurz_core::time::Timestamp;

const PART: i64 = 1000;

const HEAD: &str = "short_url,short_code,original_url,title,tags,status,strategy,created_at,\
                    expires_at,redirect_count,hits_this_month,hit_limit,redirect_status,note,aliases,\
                    archived_at\r\n";

/// `GET /app/w/{workspace}/export.csv`
pub(in crate::web) async fn csv(
    state: State<Arc<App>>,
    visitor: LoggedIn,
    path: Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    export(state, visitor, path, uri, Shape::Csv).await
}

/// `GET /app/w/{workspace}/export.json`
pub(in crate::web) async fn json(
    state: State<Arc<App>>,
    visitor: LoggedIn,
    path: Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    export(state, visitor, path, uri, Shape::Json).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Csv,
    Json,
}

struct Export {
    app: Arc<App>,
    caller: Caller,
    workspace: WorkspaceId,
    filter: LinkFilter,
    shape: Shape,
    stage: ExportStage,
}

#[derive(PartialEq, Eq)]
enum ExportStage {
    Start,
    Middle,
    Done,
}

async fn export(
    State(app): State<Arc<App>>,
    LoggedIn(visitor): LoggedIn,
    Path(workspace): Path<String>,
    uri: Uri,
    shape: Shape,
) -> Result<Response, PageError> {
    let place = WorkspaceView::enter(&app, &visitor, &workspace, "list").await?;
    let filter = LinkQuery::read(&uri, &place.base).filter(&place);
    // An export must not break off because others search.
    let filter = LinkFilter { limit: Some(PART), waits: true, cursor: None, ..filter };
    let (kind, end) = match shape {
        Shape::Csv => ("text/csv; charset=utf-8", "csv"),
        Shape::Json => ("application/json", "json"),
    };
    let name = format!("attachment; filename=\"{}.{end}\"", place.workspace);
    let caller = visitor.caller;
    let workspace = place.workspace;
    let mut export = Export { app, caller, workspace, filter, shape, stage: ExportStage::Start };
    // The first part before the answer begins: what is wrong with the filter is an error page.
    let first = export.next().await?;
    let rest = stream::unfold(export, async |mut export| match export.next().await {
        Ok(Some(part)) => Some((Ok(part), export)),
        Ok(None) => None,
        // The answer has begun: it can only break off, and not look complete.
        Err(error) => {
            tracing::warn!(%error, "an export broke off");
            export.stage = ExportStage::Done;
            Some((Err(std::io::Error::other("the export broke off")), export))
        }
    });
    let first = stream::iter(first.map(Ok));
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment")),
        ),
    ];
    Ok((headers, body).into_response())
}

impl Export {
    /// The next part, if there is one.
    async fn next(&mut self) -> Result<Option<Bytes>, AppError> {
        if self.stage == ExportStage::Done {
            return Ok(None);
        }
        let page = self.app.list_links(&self.caller, &self.workspace, &self.filter).await?;
        let is_first = self.stage == ExportStage::Start;
        let is_last = page.next.is_none();
        self.stage = if is_last { ExportStage::Done } else { ExportStage::Middle };
        self.filter.cursor = page.next;
        let text = match self.shape {
            Shape::Csv => csv_part(&page.items, is_first),
            Shape::Json => json_part(&page.items, is_first, is_last),
        };
        Ok(Some(Bytes::from(text)))
    }
}

fn csv_part(links: &[ShownLink], is_first: bool) -> String {
    let mut text = if is_first { HEAD.to_owned() } else { String::new() };
    for shown in links {
        let link = &shown.link;
        let cells = [
            shown.short_url.clone(),
            link.code.to_string(),
            link.target.clone(),
            link.fields.title.clone().unwrap_or_default(),
            link.fields.tags.join(", "),
            shown.status.as_str().to_owned(),
            link.strategy.to_string(),
            link.created_at.to_rfc3339(),
            link.fields.expires_at.map(Timestamp::to_rfc3339).unwrap_or_default(),
            link.redirect_count.to_string(),
            shown.hits_this_month.to_string(),
            shown.hit_limit.to_string(),
            link.fields.redirect_status.to_string(),
            link.fields.note.clone().unwrap_or_default(),
            aliases(shown).join(", "),
            link.fields.archived_at.0.map(Timestamp::to_rfc3339).unwrap_or_default(),
        ];
        text.push_str(&cells.map(|text| cell(&text)).join(","));
        text.push_str("\r\n");
    }
    text
}

fn aliases(shown: &ShownLink) -> Vec<&str> {
    shown.link.aliases.iter().map(Code::as_str).collect()
}

/// A link as the API names its parts.
#[derive(Serialize)]
struct Exported<'a> {
    workspace: &'a str,
    short_code: &'a str,
    short_url: &'a str,
    original_url: &'a str,
    strategy: &'static str,
    status: &'static str,
    title: Option<&'a str>,
    note: Option<&'a str>,
    tags: &'a [String],
    aliases: Vec<&'a str>,
    archived_at: Option<String>,
    created_at: String,
    updated_at: String,
    expires_at: Option<String>,
    redirect_count: i64,
    hits_this_month: i64,
    hit_limit: i64,
    redirect_status: u16,
}

fn json_part(links: &[ShownLink], is_first: bool, is_last: bool) -> String {
    let mut text = String::new();
    for (at, shown) in links.iter().enumerate() {
        let link = &shown.link;
        let exported = Exported {
            workspace: link.workspace.as_str(),
            short_code: link.code.as_str(),
            short_url: &shown.short_url,
            original_url: &link.target,
            strategy: link.strategy.as_str(),
            status: shown.status.as_str(),
            title: link.fields.title.as_deref(),
            note: link.fields.note.as_deref(),
            tags: &link.fields.tags,
            aliases: aliases(shown),
            archived_at: link.fields.archived_at.0.map(Timestamp::to_rfc3339),
            created_at: link.created_at.to_rfc3339(),
            updated_at: link.updated_at.to_rfc3339(),
            expires_at: link.fields.expires_at.map(Timestamp::to_rfc3339),
            redirect_count: link.redirect_count,
            hits_this_month: shown.hits_this_month,
            hit_limit: shown.hit_limit,
            redirect_status: link.fields.redirect_status,
        };
        let json = serde_json::to_string(&exported).unwrap_or_default();
        text.push_str(if is_first && at == 0 { "[\n" } else { ",\n" });
        text.push_str(&json);
    }
    if is_first && links.is_empty() {
        text.push('[');
    }
    if is_last {
        text.push_str("\n]\n");
    }
    text
}
