//! The access log: one line per answered request, with the target `kurz::access`, in the format of
//! the rest of the log. Off unless `KURZ_ACCESS_LOG` asks for it.
//!
//! Redirects go through a bounded queue, so that a worker never waits for a line to be written.

use std::borrow::Cow;
use std::fmt::Write;
use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::request_span::{RequestRecord, milliseconds};
use crate::config::{AccessLog, Log};

/// Turns on the lines of the access log, whatever else the log leaves out.
pub(crate) const DIRECTIVE: &str = "kurz::access=info";

/// Lines that may wait to be written.
const QUEUE: usize = 8192;

pub(super) fn write_request(record: &RequestRecord) {
    tracing::info!(
        target: "kurz::access",
        request_id = record.id.as_str(),
        method = record.method.as_str(),
        path = &*visible(&record.path),
        route = record.route.as_str(),
        status = record.status.as_u16(),
        duration_ms = milliseconds(record.duration),
        caller = record.caller.as_str(),
        client = %record.client,
        "request"
    );
}

/// An answer of the data plane.
#[derive(Clone, Debug)]
pub(crate) struct RedirectRecord {
    pub host: String,
    /// Its path; a query is left out of the log.
    pub path: String,
    pub status: u16,
    pub client: IpAddr,
    pub duration: Duration,
}

/// Where the data plane leaves its lines.
#[derive(Clone, Debug)]
pub(crate) struct RedirectLog(Sender<RedirectRecord>);

impl RedirectLog {
    /// `None` unless the settings ask for redirects to be logged. Lines are written by one of `tasks`;
    /// after `stop` it writes what is left.
    pub(crate) fn start(log: &Log, tasks: &TaskTracker, stop: &CancellationToken) -> Option<Self> {
        if log.access != AccessLog::All {
            return None;
        }
        let (sender, mut queue) = channel(QUEUE);
        let stop = stop.clone();
        tasks.spawn(async move {
            stop.run_until_cancelled(write_all(&mut queue)).await;
            queue.close();
            write_all(&mut queue).await;
        });
        Some(Self(sender))
    }

    /// Log an answer; a full queue drops it.
    pub(crate) fn send(&self, record: RedirectRecord) {
        if self.0.try_send(record).is_err() {
            metrics::counter!("kurz_access_log_dropped_total").increment(1);
        }
    }
}

async fn write_all(queue: &mut Receiver<RedirectRecord>) {
    while let Some(record) = queue.recv().await {
        tracing::info!(
            target: "kurz::access",
            host = record.host,
            path = &*visible(&record.path),
            status = record.status,
            duration_ms = milliseconds(record.duration),
            client = %record.client,
            "redirect"
        );
    }
}

/// A path in visible ASCII without its query: some of the bytes that a request line may hold are
/// control characters to a terminal.
fn visible(path: &str) -> Cow<'_, str> {
    let path = path.split('?').next().unwrap_or_default();
    if path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Cow::Borrowed(path);
    }
    let escaped = path.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'!'..=b'~' => text.push(byte.into()),
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
        text
    });
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_log_is_visible_ascii_without_a_query() {
        assert_eq!(visible("/a+?token=b"), "/a+");
        assert_eq!(visible("/a\u{85}\u{7f}\u{e9}"), "/a%C2%85%7F%C3%A9");
    }
}
