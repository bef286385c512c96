//! Addresses on a workspace's own hosts that lead to no link.

use std::sync::Arc;
use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_core::account::Caller;
use kurz_core::analytics::{AnalyticsMode, TimeRange};
use kurz_core::code::WorkspaceId;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use reqwest::header::HeaderName;
use serde_json::{Value, json};

use crate::clicks::events::maintain;

const ORPHANS: &str = "/api/v1/workspaces/team/analytics/orphans";
const DAY: Duration = Duration::from_hours(24);
const MINUTES: Duration = Duration::from_mins(4);

on_both_databases!(
    misses_on_a_workspaces_host_are_its_orphans_and_others_are_nobodys,
    orphans_are_removed_on_request_and_not_kept_in_mode_off,
);

/// A server whose workspace `team` has a host, and a client of that host.
async fn with_host(kind: Kind) -> (TestServer, Http) {
    let kurz = TestServer::builder().database(kind).start().await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "promo" });
    links::make(&kurz.http(), "team", &body).await;
    let host = json!({ "host": "go.team.example" });
    kurz.http().post("/api/v1/workspaces/team/hosts", &host).await.expect(201);
    let http = kurz.http().with(HeaderName::from_static("host"), "go.team.example");
    (kurz, http)
}

async fn orphans(kurz: &TestServer, query: &str) -> Value {
    kurz.app().write_orphans().await.unwrap();
    kurz.http().get(&format!("{ORPHANS}{query}")).await.expect(200).json()
}

async fn misses_on_a_workspaces_host_are_its_orphans_and_others_are_nobodys(kind: Kind) {
    let (kurz, host) = with_host(kind).await;
    // From the store, from memory, through hyper, and what cannot be a code.
    for path in ["/promp", "/promp", "/promp?utm_source=x", "/old/page.html", "/wp-login.php"] {
        host.get(path).await.expect(404);
    }
    host.head("/promp").await.expect(404);
    host.get("/promo").await.expect(302);
    kurz.http().get("/promp").await.expect(404);
    let seen = orphans(&kurz, "").await;
    let row = |path: &str, misses: u64| json!({ "host": "go.team.example", "path": path, "misses": misses });
    let rows = json!([row("/promp", 3), row("/old/page.html", 1), row("/wp-login.php", 1)]);
    assert_eq!((&seen["rows"], &seen["misses"], &seen["rest"]), (&rows, &json!(5), &json!(0)));
    let first = orphans(&kurz, "?limit=1&from=today").await;
    assert_eq!((first["rows"].as_array().unwrap().len(), &first["rest"]), (1, &json!(2)));
    // What another instance wrote is added to, not overwritten.
    kurz.advance(DAY);
    host.get("/promp").await.expect(404);
    assert_eq!(orphans(&kurz, "").await["rows"][0]["misses"], 4);
    assert_eq!(orphans(&kurz, "?from=today").await["misses"], 1);
    let main = "/api/v1/workspaces/main/analytics/orphans";
    assert_eq!(kurz.http().get(main).await.expect(200).json()["misses"], 0);
    for (query, code) in [("?group=link", "query-invalid"), ("?zone=Mars", "zone-unknown")] {
        kurz.http().get(&format!("{ORPHANS}{query}")).await.expect_problem(422, code);
    }
    // A day with orphans is no day without events.
    let filtered = "/api/v1/workspaces/team/analytics?filter=country:DE&from=7d";
    assert_eq!(kurz.http().get(filtered).await.expect(200).json()["exact"], true);
    let page = kurz.http().get("/app/w/team/analytics").await;
    assert!(page.text().contains("<span>/promp</span>"), "{}", page.text());
    let csv = kurz.http().get("/app/w/team/analytics/orphans.csv").await.expect(200).text();
    assert!(csv.contains("\"go.team.example\",\"/promp\",4\r\n"), "{csv}");
    kurz.stop().await;
}

async fn orphans_are_removed_on_request_and_not_kept_in_mode_off(kind: Kind) {
    let (kurz, host) = with_host(kind).await;
    host.get("/nothing").await.expect(404);
    assert_eq!(orphans(&kurz, "").await["misses"], 1);
    let team = WorkspaceId::parse("team").unwrap();
    let range = TimeRange { from: NOON.minus(DAY), to: NOON.plus(DAY) };
    kurz.app().delete_analytics(&Caller::OPEN, &team, None, range).await.unwrap();
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    assert_eq!(orphans(&kurz, "").await["misses"], 0);
    host.get("/again").await.expect(404);
    assert_eq!(orphans(&kurz, "").await["misses"], 1);
    let off = kurz::app::WorkspacePrivacy {
        mode: Some(AnalyticsMode::Off),
        ..kurz::app::WorkspacePrivacy::default()
    };
    kurz.app().change_privacy(&Caller::OPEN, &team, &off).await.unwrap();
    kurz.advance(MINUTES);
    maintain(&kurz).await;
    host.get("/again").await.expect(404);
    assert_eq!(orphans(&kurz, "").await["misses"], 0);
    kurz.stop().await;
}

// threats: E14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_that_write_at_once_lose_no_miss_and_keep_to_the_bound() {
    let two = tokio::task::block_in_place(|| TestServer::builder().start_instances(2));
    let body = json!({ "original_url": "https://example.com/" });
    links::make(&two.http(0), "team", &body).await;
    let host = json!({ "host": "go.team.example" });
    two.http(0).post("/api/v1/workspaces/team/hosts", &host).await.expect(201);
    let each = 600;
    let miss = async |instance: usize| {
        let http = two.http(instance).with(HeaderName::from_static("host"), "go.team.example");
        for number in 0..each {
            // An instance may hear of the host a moment later: such a miss is nobody's.
            http.get(&format!("/i{instance}-{number}")).await.expect(404);
        }
    };
    let probe = two.http(1).with(HeaderName::from_static("host"), "go.team.example");
    let watch = Stopwatch::start();
    while misses(&two.http(0)).await.0 == 0 {
        probe.get("/probe").await.expect(404);
        assert!(watch.elapsed() < Duration::from_mins(1), "the second instance knows no host");
    }
    tokio::join!(miss(0), miss(1));
    let watch = Stopwatch::start();
    let home = Arc::clone(two.running[0].as_ref().unwrap().home());
    loop {
        let (total, probes, rows, rest) = seen(&two.http(0)).await;
        if total == 2 * each + probes {
            assert_eq!(rows, 1_000, "a host has so many paths");
            assert_eq!(rest, 2 * each - 999);
            break;
        }
        let days = home.number("select count(*) from day_sums").await;
        assert!(watch.elapsed() < Duration::from_mins(1), "{total} misses, {days} days");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(two);
}

async fn misses(http: &Http) -> (u64, u64) {
    let seen = http.get(&format!("{ORPHANS}?limit=1000&from=7d")).await.expect(200).json();
    (seen["misses"].as_u64().unwrap(), seen["rest"].as_u64().unwrap())
}

/// All misses, those of `/probe`, the number of rows, and what is in none.
async fn seen(http: &Http) -> (u64, u64, usize, u64) {
    let seen = http.get(&format!("{ORPHANS}?limit=1000&from=7d")).await.expect(200).json();
    let rows = seen["rows"].as_array().unwrap();
    let probe = rows.iter().find(|row| row["path"] == "/probe");
    let probes = probe.map_or(0, |row| row["misses"].as_u64().unwrap());
    let number = |name: &str| seen[name].as_u64().unwrap();
    (number("misses"), probes, rows.len(), number("rest"))
}
