//! `GET …/analytics/events`: the events themselves, newest first.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde::ser::SerializeMap;
use utoipa::{IntoParams, ToSchema};

use crate::api::analytics::parameters::{QueryPairs, QuestionParams};
use crate::api::call::{Call, WorkspacePath};
use crate::app::{App, AppError, EventPosition, EventReader, ShownEvent};
use crate::csv_cell::cell;
use crate::problem::{Problem, Problems};
use kurz_core::analytics::TextColumn;

const MOST: usize = 1_000;
const DEFAULT: usize = 100;
/// Events that are read and sent at a time.
const PART: usize = 5_000;

/// How the events are sent.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described in the OpenAPI document, read as pairs")]
pub(crate) struct EventParams {
    /// `json` (a page, if you say nothing), or all events of the range as `csv` or `ndjson`.
    #[param(pattern = "^(json|csv|ndjson)$")]
    format: Option<String>,
    /// Go on where the last page ended: its `next_cursor`.
    cursor: Option<String>,
}

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventList {
    /// Each with its time `at`, the code of its `link`, a `visitor` (a hash that stands for one during a period), a
    /// `count` (1, or more for clicks whose details are not known), whether the visitor asked not to be tracked
    /// (`private`), and the dimensions by name where they are known.
    #[schema(value_type = Vec<Object>)]
    events: Vec<EventBody>,
    /// What to send as `cursor` for the next page; null on the last.
    next_cursor: Option<String>,
}

#[derive(Debug)]
pub(crate) struct EventBody(pub(crate) ShownEvent);

impl Serialize for EventBody {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("at", &event.at.to_rfc3339())?;
        map.serialize_entry("link", &event.link)?;
        map.serialize_entry("visitor", &visitor(event))?;
        map.serialize_entry("count", &event.count)?;
        map.serialize_entry("private", &event.is_private)?;
        for (column, text) in &event.texts {
            map.serialize_entry(column.name(), text)?;
        }
        map.end()
    }
}

fn visitor(event: &ShownEvent) -> Option<String> {
    (event.visitor != 0).then(|| format!("{:010x}", event.visitor))
}

/// The events of a workspace, newest first, as far as it keeps them. The same filters as for `analytics`; groups,
/// order and comparison mean nothing here.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/analytics/events", tag = "analytics",
    operation_id = "list_events",
    params(WorkspacePath, EventParams, QuestionParams),
    responses((status = 200, description = "Events.", content(
        (EventList = "application/json"), (String = "text/csv"), (String = "application/x-ndjson"))), Problems))]
pub(crate) async fn events(
    Call { app, caller, path }: Call<WorkspacePath>,
    mut pairs: QueryPairs,
) -> Result<Response, Problem> {
    let invalid = |code, detail: &str| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail);
    let format = pairs.take("format");
    let cursor = pairs.take("cursor").map(|text| {
        let detail = "The cursor does not belong to this list: leave it out to start over.";
        EventPosition::parse(&text).ok_or_else(|| invalid("cursor-invalid", detail))
    });
    let limit = pairs.take("limit").map_or(Ok(DEFAULT), |text| {
        let limit = text.parse().ok().filter(|limit| (1..=MOST).contains(limit));
        limit.ok_or_else(|| invalid("limit-invalid", "A page has 1 to 1,000 entries."))
    })?;
    let workspace = path.workspace()?;
    let query = app.analytics_question(&caller, &workspace, None, &pairs.0).await?;
    let mut reader = app.read_events(&caller, &workspace, &query, cursor.transpose()?).await?;
    let format = match format.as_deref() {
        None | Some("json") => {
            let events = reader.next(&app, limit).await?.into_iter().map(EventBody).collect();
            let next_cursor = reader.position().map(EventPosition::write);
            return Ok(axum::Json(EventList { events, next_cursor }).into_response());
        }
        Some("csv") => EventFormat::Csv,
        Some("ndjson") => EventFormat::Lines,
        Some(_) => return Err(invalid("analytics-invalid", "`format` is json, csv or ndjson.")),
    };
    stream_all(app, reader, format).await
}

#[derive(Clone, Copy, Debug)]
enum EventFormat {
    Csv,
    Lines,
}

async fn stream_all(
    app: Arc<App>,
    mut reader: EventReader,
    format: EventFormat,
) -> Result<Response, Problem> {
    let (kind, name) = match format {
        EventFormat::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"events.csv\""),
        EventFormat::Lines => ("application/x-ndjson", "attachment; filename=\"events.ndjson\""),
    };
    // The first part before the answer begins: what is wrong is a problem of its own.
    let first = part(&app, &mut reader, format, true).await?;
    let rest = stream::unfold(Some((app, reader, format)), async |state| {
        let (app, mut reader, format) = state?;
        match part(&app, &mut reader, format, false).await {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => Some((Ok(bytes), Some((app, reader, format)))),
            // The answer has begun: it can only break off, and not look complete.
            Err(error) => {
                tracing::warn!(%error, "a list of events broke off");
                Some((Err(std::io::Error::other("the list broke off")), None))
            }
        }
    });
    let first = stream::iter([Ok(first)]);
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(name)),
    ];
    Ok((headers, body).into_response())
}

/// The next events as text; empty when there are none.
async fn part(
    app: &App,
    reader: &mut EventReader,
    format: EventFormat,
    is_first: bool,
) -> Result<Bytes, AppError> {
    let events = reader.next(app, PART).await?;
    let mut text = String::new();
    match format {
        EventFormat::Csv => {
            if is_first {
                let columns = TextColumn::ALL.map(TextColumn::name).join(",");
                text.push_str("at,link,visitor,count,private,");
                text.push_str(&columns);
                text.push_str("\r\n");
            }
            for event in &events {
                text.push_str(&csv_line(event));
            }
        }
        EventFormat::Lines => {
            for event in events {
                text.push_str(&serde_json::to_string(&EventBody(event)).unwrap_or_default());
                text.push('\n');
            }
        }
    }
    Ok(text.into())
}

fn csv_line(event: &ShownEvent) -> String {
    let fixed = [
        event.at.to_rfc3339(),
        cell(&event.link),
        visitor(event).unwrap_or_default(),
        event.count.to_string(),
        event.is_private.to_string(),
    ];
    let value = |column: TextColumn| {
        let found = event.texts.iter().find(|(known, _)| *known == column);
        found.map_or_else(String::new, |(_, text)| cell(text))
    };
    let cells: Vec<String> = fixed.into_iter().chain(TextColumn::ALL.map(value)).collect();
    format!("{}\r\n", cells.join(","))
}
