//! `GET …/analytics/live`: clicks as they come, as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, header};
use serde_json::json;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::api::analytics::events::EventBody;
use crate::api::analytics::parameters::{QueryPairs, QuestionParams};
use crate::api::call::{Call, WorkspacePath};
use crate::app::{App, AppError, LiveClicks};
use crate::problem::{Problem, Problems};

/// How often the log is looked at.
const EVERY: Duration = Duration::from_secs(1);
/// Looks between two sums, and between two signs of life.
const SUM_EVERY: u64 = 5;
const PING_EVERY: u64 = 15;
/// Looks after which a stream ends; the browser opens another one.
const LAST_LOOK: u64 = 3_600;

/// The clicks of a workspace as they come, as server-sent events: `click` with one event (at most 50 a second), `now` every
/// 5 seconds with the last 30 minutes. The same filters as for `analytics`.
#[utoipa::path(get, path = "/api/v1/workspaces/{workspace}/analytics/live", tag = "analytics",
    operation_id = "live_analytics",
    params(WorkspacePath, QuestionParams),
    responses((status = 200, description = "A stream.", content((String = "text/event-stream"))), Problems))]
pub(crate) async fn live(
    Call { app, caller, path }: Call<WorkspacePath>,
    QueryPairs(pairs): QueryPairs,
) -> Result<Response, Problem> {
    let workspace = path.workspace()?;
    let query = app.analytics_question(&caller, &workspace, None, &pairs).await?;
    let clicks = app.follow_clicks(&caller, &workspace, &query).await?;
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = stream::unfold(LiveStream { app, clicks, ticks, looks: 0 }, async |mut stream| {
        let text = stream.next().await?;
        Some((Ok::<_, std::io::Error>(Bytes::from(text)), stream))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(stream)).into_response())
}

struct LiveStream {
    app: Arc<App>,
    clicks: LiveClicks,
    ticks: Interval,
    looks: u64,
}

impl LiveStream {
    /// What happened since the last time; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            self.ticks.tick().await;
            let look = self.looks;
            self.looks += 1;
            if look == LAST_LOOK {
                return None;
            }
            // A store that does not answer is tried again; the stream stays.
            let mut text = self.look(look).await.unwrap_or_default();
            if look.is_multiple_of(PING_EVERY) {
                text.push_str(": ping\n\n");
            }
            if !text.is_empty() {
                return Some(text);
            }
        }
    }

    async fn look(&mut self, look: u64) -> Result<String, AppError> {
        let mut text = String::new();
        for event in self.clicks.look(&self.app).await? {
            let data = serde_json::to_string(&EventBody(event)).unwrap_or_default();
            text.push_str(&message("click", &data));
        }
        if look.is_multiple_of(SUM_EVERY) {
            let sums = self.clicks.sums(&self.app).await?;
            let minutes: Vec<u64> = sums.minutes.iter().map(|minute| minute.clicks).collect();
            let data = json!({
                "clicks": sums.total.clicks,
                "visitors": sums.total.visitors,
                "bots": sums.total.bots,
                "minutes": minutes,
            });
            text.push_str(&message("now", &data.to_string()));
        }
        Ok(text)
    }
}

fn message(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}
