//! The machine's clock jumps: libfaketime stands between the process and the system's wall clock.

use std::fs;
use std::time::Duration;

use kurz::clock::Clock;
use kurz_test_support::chaos::clock::faked;
use kurz_test_support::{TestServer, links};
use serde_json::json;
use tokio::task::block_in_place;

// threats: E13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_brings_no_link_back_and_stops_nothing() {
    let program = TestServer::builder().default_timeouts().process();
    let offset = program.folder().join("offset");
    let set = |by: &str| fs::write(&offset, format!("{by}\n")).unwrap();
    set("+0d");
    let program = faked(program)
        .env("FAKETIME_TIMESTAMP_FILE", offset.to_str().unwrap())
        .env("FAKETIME_NO_CACHE", "1");
    let server = block_in_place(|| program.start());
    let http = server.http();
    let soon = Clock::system().now().plus(Duration::from_hours(1)).to_rfc3339();
    let make = async |code: &str, body: &serde_json::Value| {
        let mut body = body.clone();
        body["original_url"] = json!(format!("https://example.com/{code}"));
        body["custom_code"] = json!(code);
        links::make(&http, "team", &body).await
    };
    make("short", &json!({ "expires_at": soon })).await;
    let long = make("long", &json!({})).await;
    for path in ["/short", "/long"] {
        http.get(path).await.expect(302);
    }
    // Ahead by a month: what ended in between has ended.
    for (at, by) in ["+31d", "-1d", "+0d", "+31d", "-400d", "+5m", "+0d"].into_iter().enumerate() {
        set(by);
        http.get("/short").await.expect_problem(410, "link-expired");
        http.get("/long").await.expect(302);
        make(&format!("made-{at}"), &json!({})).await;
        http.get(&format!("/made-{at}")).await.expect(302);
        http.get("/readyz").await.expect(200);
    }
    links::counted(&http, &long, 8).await;
    let (status, written) = block_in_place(|| server.terminate());
    assert!(status.success() && !written.contains("panic"), "{written}");
}
