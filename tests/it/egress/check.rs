//! Checks of targets: once a day for each link, on one instance, and shown with the link.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use kurz::app::{Probe, ProbeResult};
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::app::start_without_cleanup;

const DAY: Duration = Duration::from_hours(24);

on_both_databases! {
    each_target_is_checked_once_a_day,
    a_target_that_was_edited_is_not_called_what_the_old_one_was,
    adma_gets_the_http_status_as_a_number_and_the_word_beside_it,
}

/// Counts visits; says that targets with `gone` in them are broken.
#[derive(Default)]
struct Fake(Mutex<HashMap<String, usize>>);

impl Fake {
    fn visits(&self) -> usize {
        self.0.lock().unwrap().values().sum()
    }
}

impl Probe for Fake {
    async fn probe(&self, target: &str) -> ProbeResult {
        *self.0.lock().unwrap().entry(target.to_owned()).or_default() += 1;
        if target.contains("gone") {
            ProbeResult { status: "broken", http_status: Some(404) }
        } else if target.contains("silent") {
            ProbeResult { status: "broken", http_status: None }
        } else {
            ProbeResult { status: "ok", http_status: Some(200) }
        }
    }
}

#[tokio::test]
async fn a_running_kurz_checks_when_it_is_told_to_and_goes_nowhere_private() {
    let program = TestServer::builder().process();
    let kurz = program.start();
    let http = kurz.http();
    let url = json!({ "original_url": "http://127.0.0.1/", "custom_code": "inside" });
    http.post("/api/v1/links", &url).await.expect(201);
    drop(kurz);
    let kurz = program.env("KURZ_HEALTH_CHECKS", "on").start();
    let http = kurz.http();
    kurz.wait_for_log("targets were checked");
    let link = http.get("/api/v1/workspaces/main/links/inside").await.expect(200).json();
    assert_eq!(link["destination_status"], "blocked");
    assert_eq!(link["destination_http_status"], json!(null));
    let (status, _) = kurz.terminate();
    assert!(status.success());
}

async fn check(server: &TestServer, probe: &Fake) -> usize {
    let stop = CancellationToken::new();
    let checked = server.app().check_targets(probe, &stop).await.unwrap();
    checked.expect("nobody else checks")
}

async fn show(server: &TestServer, code: &Value) -> Value {
    let path = format!("/api/v1/workspaces/team/links/{}", code.as_str().unwrap());
    server.http().get(&path).await.expect(200).json()
}

async fn each_target_is_checked_once_a_day(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let probe = Fake::default();
    assert_eq!(check(&server, &probe).await, 0);
    let links: Vec<Value> =
        (0..150).map(|at| json!({ "original_url": format!("https://example.com/{at}") })).collect();
    let bulk = json!({ "links": links });
    let made = server.http().post("/api/v1/workspaces/team/links/bulk", &bulk).await;
    assert!(made.status < 300, "{}", made.text());
    let gone =
        links::make(&server.http(), "team", &json!({ "original_url": "https://example.com/gone" }))
            .await;
    let dead =
        links::make(&server.http(), "team", &json!({ "original_url": "https://example.com/dead" }))
            .await;
    let dead = dead["short_code"].as_str().unwrap();
    server.http().delete(&format!("/api/v1/workspaces/team/links/{dead}")).await.expect(200);
    let mut checked = 0;
    for _ in 0..5 {
        checked += check(&server, &probe).await;
    }
    assert_eq!((checked, probe.visits()), (151, 151));
    let shown = show(&server, &gone["short_code"]).await;
    assert_eq!(shown["destination_status"], "broken");
    assert_eq!(shown["destination_http_status"], 404);
    assert!(shown["last_checked_at"].is_string());

    server.clock.advance(Duration::from_hours(23));
    assert_eq!(check(&server, &probe).await, 0);
    server.clock.advance(Duration::from_hours(1));
    assert_eq!(check(&server, &probe).await, 151);
    assert_eq!(check(&server, &probe).await, 0);
    assert!(probe.0.lock().unwrap().values().all(|visits| *visits == 2));
}

async fn a_target_that_was_edited_is_not_called_what_the_old_one_was(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    let probe = Fake::default();
    let link =
        links::make(&server.http(), "team", &json!({ "original_url": "https://example.com/gone" }))
            .await;
    assert_eq!(check(&server, &probe).await, 1);
    let path = format!("/api/v1/workspaces/team/links/{}", link["short_code"].as_str().unwrap());
    let edit = json!({ "original_url": "https://example.com/here" });
    server.http().patch(&path, &edit).await.expect(200);
    let shown = show(&server, &link["short_code"]).await;
    assert_eq!(shown["destination_status"], "unknown");
    assert_eq!(shown["destination_http_status"], json!(null));
    assert_eq!(check(&server, &probe).await, 0, "not more often for being edited");
    server.clock.advance(DAY);
    assert_eq!(check(&server, &probe).await, 1);
    let shown = show(&server, &link["short_code"]).await;
    assert_eq!(shown["destination_status"], "ok");
    assert_eq!(shown["destination_http_status"], 200);
}

async fn adma_gets_the_http_status_as_a_number_and_the_word_beside_it(kind: Kind) {
    let server = start_without_cleanup(kind).await;
    for path in ["here", "gone", "silent"] {
        let body = json!({ "originalUrl": format!("https://example.com/{path}") });
        let link = server.http().post("/api/urls", &body).await.expect(201).json();
        assert_eq!(link["destinationStatus"], json!(null), "not checked yet");
        assert_eq!(link["destinationHealth"], json!(null), "not checked yet");
    }
    assert_eq!(check(&server, &Fake::default()).await, 3);
    let list = server.http().get("/api/urls").await.expect(200).json();
    let found: Vec<(Value, Value)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|link| (link["destinationStatus"].clone(), link["destinationHealth"].clone()))
        .collect();
    // The newest first.
    assert_eq!(
        found,
        [(json!(null), json!("broken")), (json!(404), json!("broken")), (json!(200), json!("ok"))]
    );
}
