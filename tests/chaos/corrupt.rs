//! A store that was damaged while no server ran on it.

use std::fs;

use kurz_test_support::chaos::corrupt::{doctor, run};
use kurz_test_support::chaos::kill::program;
use serde_json::json;

// threats: F5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_damages_are_noticed_or_do_no_harm() {
    let figures = run(1, 100).await;
    eprintln!("{figures}");
    assert!(figures.refused > 0 && figures.noticed > 0 && figures.harmless > 0, "{figures:?}");
}

// threats: F5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_turned_over_is_not_served_and_the_doctor_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = program(folder.path());
    let process = tokio::task::block_in_place(|| server.start());
    let http = process.http();
    let body = json!({ "original_url": "https://example.com/a#section-one", "custom_code": "one" });
    http.post("/api/v1/workspaces/red/links", &body).await.expect(201);
    tokio::task::block_in_place(|| process.kill_9());
    let db = rusqlite::Connection::open(folder.path().join("kurz.db")).unwrap();
    db.execute("update links set target = replace(target, 'one', 'two')", []).unwrap();
    drop(db);
    fs::remove_file(folder.path().join("kurz.db.lock")).unwrap();
    let process = tokio::task::block_in_place(|| server.start());
    let http = process.http();
    http.get("/w/red/one").await.expect_problem(503, "store-unavailable");
    let api = "/api/v1/workspaces/red/links/one";
    http.get(api).await.expect_problem(500, "internal-error");
    let body = json!({ "title": "Nobody seals it anew by chance" });
    http.patch(api, &body).await.expect_problem(500, "internal-error");
    let metrics = process.admin().get("/metrics").await.text();
    assert!(metrics.contains("kurz_links_corrupt_total 3"), "{metrics}");
    tokio::task::block_in_place(|| process.kill_9());
    assert!(tokio::task::block_in_place(|| doctor(folder.path())));
}
