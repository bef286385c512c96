//! Links as tests ask for them over HTTP: make, look at, follow, wait for their counts.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, interval};

use crate::http::Http;

/// How long counts may take to be written. Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(20);

/// The links of a workspace.
pub fn path(workspace: &str) -> String {
    format!("/api/v1/workspaces/{workspace}/links")
}

/// A link's code.
pub fn code(link: &Value) -> &str {
    link["short_code"].as_str().unwrap()
}

/// Where the API has a link.
pub fn path_of(link: &Value) -> String {
    format!("{}/{}", path(link["workspace"].as_str().unwrap()), code(link))
}

/// The path of a link's `short_url`.
pub fn short_path(link: &Value) -> String {
    url::Url::parse(link["short_url"].as_str().unwrap()).unwrap().path().to_owned()
}

/// Make a link that is new.
#[track_caller]
pub fn make(http: &Http, workspace: &str, body: &Value) -> impl Future<Output = Value> {
    let (http, path, body) = (http.clone(), path(workspace), body.clone());
    async move { http.post(&path, &body).await.expect(201).json() }
}

/// A link as it is now.
pub async fn show(http: &Http, link: &Value) -> Value {
    http.get(&path_of(link)).await.expect(200).json()
}

/// All links of a workspace that fit a page; none when there is no such workspace.
pub async fn all(http: &Http, workspace: &str) -> Vec<Value> {
    let answer = http.get(&format!("{}?limit=1000", path(workspace))).await;
    if answer.status == 404 {
        return Vec::new();
    }
    answer.expect(200).json()["links"].as_array().unwrap().clone()
}

/// The link once `count` redirects of it have been written.
pub async fn counted(http: &Http, link: &Value, count: i64) -> Value {
    once(http, &path_of(link), |link| link["redirect_count"] == count).await
}

/// The platform's totals once they say so: a count that took long is remembered for a while.
pub async fn totals(http: &Http, links: i64, redirects: i64) -> Value {
    let said = |now: &Value| now["total_links"] == links && now["total_redirects"] == redirects;
    once(http, "/api/v1/stats", said).await
}

/// What is at `path`, once it is as it should be.
async fn once(http: &Http, path: &str, good: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    let mut ticks = interval(Duration::from_millis(20));
    loop {
        ticks.tick().await;
        let now = http.get(path).await.expect(200).json();
        if good(&now) {
            return now;
        }
        assert!(start.elapsed() < PATIENCE, "{path} still says {now}");
    }
}
