//! T-CLOCK: the machine's clock is wrong, or jumps. libfaketime stands between the program and the
//! system's wall clock; the clock that only goes forward is left alone.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use kurz::clock::Clock;
use serde_json::json;
use tokio::task::block_in_place;

use crate::harness::http::Http;
use crate::harness::process::Program;
use crate::links;

/// Where Debian's package `libfaketime` puts it.
fn library() -> PathBuf {
    let folders = fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path());
    let mut found = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    found
        .find(|file| file.exists())
        .expect("libfaketime is installed (Debian's package libfaketime)")
}

fn faked(program: Program) -> Program {
    program
        .env("LD_PRELOAD", library().to_str().unwrap())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_DONT_RESET", "1")
}

/// The same program on a machine whose clock is off by so much, such as `+5m`.
pub(crate) fn shifted(program: Program, by: &str) -> Program {
    faked(program).env("FAKETIME", by)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_t_clock_a_clock_that_jumps_brings_no_link_back_and_stops_nothing() {
    let program = Program::serve(&["--open"]).env("KURZ_LIMITS", "off");
    let offset = program.folder().join("offset");
    let set = |by: &str| fs::write(&offset, format!("{by}\n")).unwrap();
    set("+0d");
    let program = faked(program)
        .env("FAKETIME_TIMESTAMP_FILE", offset.to_str().unwrap())
        .env("FAKETIME_NO_CACHE", "1");
    let server = block_in_place(|| program.start());
    let http = Http::new(server.base_url());
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
