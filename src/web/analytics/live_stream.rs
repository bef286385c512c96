//! `…/analytics/stream`: tells the page of now, by server-sent events, when it is to be made anew: within two seconds of a
//! click, and every five seconds anyway. What is shown is made in one place, the page.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, header};
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::app::{App, AppError, LiveClicks, Resource};
use crate::web::analytics::filters::Asked;
use crate::web::analytics::questions::question;
use crate::web::analytics::subject::{Asker, PageSubject};

const EVERY: Duration = Duration::from_secs(1);
/// Looks between two signs that time goes on.
const NOW_EVERY: u32 = 5;
/// Looks after which a stream ends; the browser opens another one.
const LAST_LOOK: u32 = 3_600;

struct PageStream {
    app: Arc<App>,
    clicks: LiveClicks,
    ticks: Interval,
    looks: u32,
}

/// Follow the clicks that the page is about. Shares have none.
pub(super) async fn answer(
    app: Arc<App>,
    subject: &PageSubject,
    asked: &Asked,
) -> Result<Response, AppError> {
    let Asker::Account { caller, workspace, .. } = &subject.asker else {
        return Err(AppError::NotFound(Resource::Page));
    };
    let query = question(&app, subject, asked).await?;
    let clicks = app.follow_clicks(caller, workspace, &query).await?;
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let events = stream::unfold(PageStream { app, clicks, ticks, looks: 0 }, async |mut page| {
        let text = page.next().await?;
        Some((Ok::<_, std::io::Error>(Bytes::from_static(text.as_bytes())), page))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

impl PageStream {
    /// The next message; `None` at the end.
    async fn next(&mut self) -> Option<&'static str> {
        while self.looks < LAST_LOOK {
            self.ticks.tick().await;
            self.looks += 1;
            // A store that does not answer is tried again; the stream stays.
            let clicks = self.clicks.look(&self.app).await.unwrap_or_default();
            if !clicks.is_empty() {
                return Some("event: click\ndata: 1\n\n");
            }
            if self.looks.is_multiple_of(NOW_EVERY) {
                return Some("event: now\ndata: 1\n\n");
            }
        }
        None
    }
}
