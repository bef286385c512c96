//! Questions about clicks over HTTP: the shape of answers, what is refused, and who may ask.

use std::time::Duration;

use kurz_core::time::Timestamp;
use kurz_test_support::accounts::join;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, NOON, TestServer, links, on_both_databases};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::clicks::events::{batch, store_block};

const ANALYTICS: &str = "/api/v1/workspaces/team/analytics";

on_both_databases!(
    clicks_are_known_by_country_and_day_as_soon_as_they_are_written,
    counts_from_before_there_were_events_are_part_of_the_series,
);

/// One more than can be asked for.
const EVERY_GROUP: [&str; 17] = [
    "link", "tag", "host", "class", "bot", "referrer", "channel", "browser", "os", "device", "app",
    "language", "country", "region", "city", "ref", "answer",
];

async fn link(http: &Http, workspace: &str, code: &str) -> Value {
    let body = json!({ "original_url": "https://example.com/", "custom_code": code });
    links::make(http, workspace, &body).await
}

/// A server with a link of `team` and events of it: one for each country.
async fn with_events(countries: &[&str]) -> (TestServer, Http) {
    let kurz = TestServer::builder().start().await;
    let http = kurz.http();
    let id = link(&http, "team", "promo").await["id"].as_i64().unwrap();
    if !countries.is_empty() {
        store_block(&kurz.open_store().await, "team", &batch(id, NOON, countries)).await;
    }
    (kurz, http)
}

async fn clicks_are_known_by_country_and_day_as_soon_as_they_are_written(kind: Kind) {
    let kurz = TestServer::builder().database(kind).start().await;
    let http = kurz.http();
    let made = link(&http, "team", "promo").await;
    let other = link(&http, "elsewhere", "promo").await;
    for path in [links::short_path(&made), links::short_path(&made), links::short_path(&other)] {
        http.get(&path).await.expect(302);
    }
    kurz.app().flush_all().await.unwrap();
    let ask = async |http: &Http| {
        let path = format!("{ANALYTICS}?from=7d&group=link,country,channel");
        http.get(&path).await.expect(200).json()
    };
    let logged = ask(&http).await;
    assert_eq!(logged["total"]["clicks"], 2);
    assert_eq!(logged["groups"]["link"]["rows"][0]["value"], "promo");
    assert_eq!(logged["series"].as_array().unwrap().len(), 7);
    assert_eq!(logged["series"][6]["clicks"], 2);
    kurz.app().cut_own_events(true).await.unwrap();
    let stored = ask(&http).await;
    for part in ["range", "total", "series", "groups", "detail_share", "exact"] {
        assert_eq!(stored[part], logged[part], "the same from a block as from the log");
    }
    let of_link = http.get(&format!("{}/analytics?from=today", links::path_of(&made))).await;
    assert_eq!(of_link.expect(200).json()["total"]["clicks"], 2);
    kurz.stop().await;
}

async fn counts_from_before_there_were_events_are_part_of_the_series(kind: Kind) {
    let settings = [("KURZ_ANALYTICS", "off")];
    let kurz = TestServer::builder().database(kind).settings(&settings).start().await;
    let http = kurz.http();
    let made = link(&http, "team", "promo").await;
    for _ in 0..3 {
        http.get(&links::short_path(&made)).await.expect(302);
    }
    kurz.app().flush_all().await.unwrap();
    for path in [ANALYTICS.to_owned(), format!("{}/analytics", links::path_of(&made))] {
        let answer = http.get(&format!("{path}?from=24h&group=country")).await.expect(200).json();
        let clicks = &answer["total"]["clicks"];
        let bots = &answer["total"]["bots"];
        assert_eq!(clicks.as_u64().unwrap() + bots.as_u64().unwrap(), 3, "{answer}");
        let hours = answer["series"].as_array().unwrap();
        assert_eq!((hours.len(), &hours[23]["clicks"]), (24, clicks));
        assert_eq!(answer["groups"]["country"]["unknown"]["clicks"], *clicks);
    }
    kurz.stop().await;
}

#[tokio::test]
async fn an_answer_has_the_documented_shape() {
    let (kurz, http) = with_events(&["DE", "DE", "AT", "", "\u{1}"]).await;
    let zone = "zone=Europe/Berlin&from=2020-01-01&to=2020-01-02";
    http.get(&format!("{ANALYTICS}?{zone}")).await.expect(200);
    let path = format!("{ANALYTICS}?from=today&group=country&limit=1&compare=previous&zone=UTC");
    let mut answer = http.get(&path).await.expect(200).json();
    assert!(answer["cost"]["ms"].is_u64());
    answer["cost"]["ms"] = json!(0);
    let midnight = Timestamp::from_ms(NOON.as_ms() - 12 * 3_600_000);
    let text = |at: Timestamp| at.to_rfc3339().replace(".000Z", "+00:00");
    let hours = answer["series"].as_array().unwrap().clone();
    assert_eq!(hours.len(), 24);
    let noon = json!({ "start": text(NOON), "clicks": 5, "visitors": 5, "bots": 0,
        "before": { "clicks": 0, "visitors": 0 } });
    assert_eq!(hours[12], noon);
    answer["series"] = json!([]);
    let expected = json!({
        "range": { "from": text(midnight), "to": text(midnight.plus(Duration::from_hours(24))),
            "zone": "UTC", "interval": "hour" },
        "visitors_basis": "day", "detail_share": 1.0, "exact": true,
        "total": { "clicks": 5, "visitors": 5, "bots": 0, "qr": 0,
            "change": { "clicks": null, "visitors": null } },
        "series": [],
        "groups": { "country": {
            "rows": [{ "value": "DE", "name": "Germany", "clicks": 2, "visitors": 2, "share": 0.4, "change": null }],
            "rest": { "values": 1, "clicks": 1 }, "unknown": { "clicks": 1 }, "private": { "clicks": 1 } } },
        "cost": { "events": 5, "ms": 0 },
    });
    assert_eq!(answer, expected);
    kurz.stop().await;
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_its_code() {
    let (kurz, http) = with_events(&["DE"]).await;
    for (query, code) in [
        ("group=planet", "analytics-invalid"),
        ("interval=minute", "analytics-invalid"),
        ("class=alien", "analytics-invalid"),
        ("order=size", "analytics-invalid"),
        ("from=2026-02-01&to=2026-01-01", "range-invalid"),
        ("from=2010-01-01&to=2026-01-01", "range-invalid"),
        ("zone=Mars/Olympus", "zone-unknown"),
        ("filter=country", "filter-invalid"),
        ("filter=link:promo*", "filter-invalid"),
        ("page=3", "query-invalid"),
        ("compare=tomorrow", "analytics-invalid"),
        ("limit=1001", "analytics-invalid"),
        ("group=country&offset=x", "analytics-invalid"),
        // More than 1,000 points, hours of more than 31 days.
        ("from=2020-01-01&to=2023-01-01&interval=day", "range-invalid"),
        ("from=90d&interval=hour", "range-invalid"),
        ("from=soon", "range-invalid"),
        ("to=2026-01-01", "range-invalid"),
        (&format!("filter=city:{}", "x".repeat(257)), "filter-invalid"),
        (&format!("filter=city:{}", vec!["x"; 65].join(",")), "filter-invalid"),
        (&vec!["filter=city:x"; 33].join("&"), "filter-invalid"),
        ("filter=planet:Mars", "filter-invalid"),
        (&format!("group={}", EVERY_GROUP.join(",")), "analytics-invalid"),
    ] {
        http.get(&format!("{ANALYTICS}?{query}")).await.expect_problem(422, code);
    }
    for good in [
        format!("filter=city:{}", "x".repeat(256)),
        format!("filter=city:{}", vec!["x"; 64].join(",")),
        vec!["filter=city:x"; 32].join("&"),
        format!("group={}", EVERY_GROUP[..16].join(",")),
        "from=2020-01-01&to=2022-01-01&interval=day".to_owned(),
    ] {
        http.get(&format!("{ANALYTICS}?{good}")).await.expect(200);
    }
    http.get("/api/v1/workspaces/nobodys/analytics").await.expect(404);
    http.get("/api/v1/workspaces/team/links/nothing/analytics").await.expect(404);
    let hostile = "filter=city:%00%ff%27%22%3Cscript%3E&filter=referrer:%2A";
    http.get(&format!("{ANALYTICS}?{hostile}")).await.expect(200);
    kurz.stop().await;
}

/// Days of which only sums are left answer no filter, and it says from when on events are kept.
#[tokio::test]
async fn a_filter_over_days_without_events_says_where_to_begin() {
    let (kurz, http) = with_events(&["DE"]).await;
    kurz.clock.set(NOON.plus(Duration::from_hours(24 * 100)));
    crate::clicks::events::maintain(&kurz).await;
    let asked = format!("{ANALYTICS}?from=12mo&filter=country:DE");
    let refused = http.get(&asked).await.expect_problem(422, "filter-too-old");
    let after = NOON.plus(Duration::from_hours(24)).to_rfc3339();
    assert!(refused.to_string().contains(&after[..10]), "{refused}");
    let answer = http.get(&format!("{ANALYTICS}?from=12mo&group=country")).await.expect(200).json();
    assert_eq!((&answer["exact"], &answer["total"]["clicks"]), (&json!(false), &json!(1)));
    assert_eq!(answer["groups"]["country"]["rows"][0]["value"], "DE");
    kurz.stop().await;
}

#[tokio::test]
async fn nothing_is_kept_that_the_one_above_does_not_keep() {
    let settings = [("KURZ_ANALYTICS", "aggregate")];
    let kurz = TestServer::builder().settings(&settings).start().await;
    let http = kurz.http();
    let made = link(&http, "team", "promo").await;
    let put =
        async |path: &str, body: Value| http.send(reqwest::Method::PUT, path, Some(&body)).await;
    let of_link = format!("{}/privacy", links::path_of(&made));
    for path in ["/api/v1/workspaces/team/privacy", &of_link] {
        put(path, json!({ "mode": "events" })).await.expect_problem(422, "mode-too-wide");
        put(path, json!({ "mode": "loud" })).await.expect_problem(422, "analytics-invalid");
        put(path, json!({ "mode": "off" })).await.expect(200);
        assert_eq!(http.get(path).await.expect(200).json()["mode"], "off");
        put(path, json!({})).await.expect(200);
        assert_eq!(http.get(path).await.expect(200).json()["mode"], json!(null));
    }
    http.get("/api/v1/workspaces/team/links/nothing/privacy").await.expect(404);
    kurz.stop().await;
}

/// What the server does not honour, a workspace may.
#[tokio::test]
async fn a_workspace_honours_wishes_that_the_server_does_not() {
    let kurz = TestServer::builder().setting("KURZ_HONOUR", "none").start().await;
    let http = kurz.http();
    link(&http, "team", "promo").await;
    let path = "/api/v1/workspaces/team/privacy";
    let wish = http.with(reqwest::header::HeaderName::from_static("sec-gpc"), "1");
    let private = async || {
        wish.get("/w/team/promo").await.expect(302);
        kurz.app().flush_all().await.unwrap();
        let answer = http.get(&format!("{ANALYTICS}?from=24h&group=channel&class=all")).await;
        answer.expect(200).json()["groups"]["channel"]["private"]["clicks"].clone()
    };
    assert_eq!(private().await, 0);
    let put = http.send(reqwest::Method::PUT, path, Some(&json!({ "honour": "gpc" }))).await;
    put.expect(200);
    assert_eq!(private().await, 1);
    kurz.stop().await;
}

/// Expired, revoked and unknown shares are one answer.
#[tokio::test]
async fn a_share_that_has_ended_is_not_there() {
    let (kurz, http) = with_events(&["DE"]).await;
    let until = NOON.plus(Duration::from_hours(1)).to_rfc3339();
    let body = json!({ "scope": "workspace", "expires_at": until });
    let made = http.post(&format!("{ANALYTICS}/shares"), &body).await.expect(201).json();
    let url = made["url"].as_str().unwrap();
    let path = format!("/s/{}", url.split_once("/s/").unwrap().1);
    http.get(&path).await.expect(200);
    kurz.advance(Duration::from_hours(1));
    http.get(&path).await.expect(404);
    let past = json!({ "scope": "workspace", "expires_at": until });
    http.post(&format!("{ANALYTICS}/shares"), &past).await.expect(422);
    kurz.stop().await;
}

// threats: H13
#[tokio::test]
async fn events_are_listed_newest_first_page_by_page_and_as_files() {
    let countries: Vec<&str> = ["DE", "AT", "=1+1"].into_iter().cycle().take(250).collect();
    let (kurz, http) = with_events(&countries).await;
    kurz.clock.set(NOON.plus(Duration::from_hours(12)));
    let mut listed = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("{ANALYTICS}/events?from=7d&limit=100{cursor}");
        let page = http.get(&path).await.expect(200).json();
        listed.extend(page["events"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(listed.len(), 250);
    assert!(
        listed
            .is_sorted_by_key(|event| std::cmp::Reverse(event["at"].as_str().unwrap().to_owned()))
    );
    assert_eq!((&listed[249]["link"], &listed[249]["country"]), (&json!("promo"), &json!("DE")));

    let csv = http.get(&format!("{ANALYTICS}/events?from=7d&format=csv")).await.expect(200);
    let csv = csv.text();
    assert_eq!(csv.lines().count(), 251);
    assert!(csv.starts_with("at,link,visitor,count,private,host,class,"));
    assert!(csv.contains("\"'=1+1\"") && !csv.contains("\"=1+1"), "no cell is a formula");
    let path = format!("{ANALYTICS}/events?from=7d&format=ndjson&filter=country:AT");
    let lines = http.get(&path).await.expect(200);
    let lines: Vec<Value> =
        lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 83);
    assert!(lines.iter().all(|event| event["country"] == "AT"));
    http.get(&format!("{ANALYTICS}/events?format=xml"))
        .await
        .expect_problem(422, "analytics-invalid");
    http.get(&format!("{ANALYTICS}/events?cursor=x")).await.expect_problem(422, "cursor-invalid");
    let export = http.get(&format!("{ANALYTICS}/export?from=7d&group=country")).await.expect(200);
    assert!(export.text().contains("country,\"DE\",84,84,,\r\n"), "{}", export.text());
    kurz.stop().await;
}

#[tokio::test]
async fn details_are_removed_on_request() {
    let (kurz, http) = with_events(&["DE", "AT"]).await;
    http.delete(&format!("{ANALYTICS}?from=yesterday")).await.expect_problem(422, "range-invalid");
    http.delete(&format!("{ANALYTICS}?form=x")).await.expect_problem(422, "query-invalid");
    http.delete(ANALYTICS).await.expect(202);
    let log = http.get("/api/v1/admin/audit").await.expect(200).json();
    assert_eq!(log["changes"][0]["subject"], "team", "{log}");
    kurz.stop().await;
}

#[tokio::test]
async fn privacy_is_shown_and_set_and_hides_panels() {
    let (kurz, http) = with_events(&["DE"]).await;
    let path = "/api/v1/workspaces/team/privacy";
    let nothing =
        json!({ "mode": null, "keep": null, "honour": null, "exclude": null, "panels_off": null });
    assert_eq!(http.get(path).await.expect(200).json(), nothing);
    let put = async |body: Value| http.send(reqwest::Method::PUT, path, Some(&body)).await;
    put(json!({ "mode": "all" })).await.expect_problem(422, "analytics-invalid");
    put(json!({ "keep": 40_000 })).await.expect_problem(422, "analytics-invalid");
    put(json!({ "colour": "red" })).await.expect(422);
    let set = put(json!({ "keep": 30, "panels_off": ["country"] })).await.expect(200).json();
    assert_eq!((&set["keep"], &set["panels_off"]), (&json!(30), &json!(["country"])));
    let asked = format!("{ANALYTICS}?group=country");
    http.get(&asked).await.expect_problem(422, "analytics-invalid");
    let events = http.get(&format!("{ANALYTICS}/events?from=7d")).await.expect(200).json();
    assert_eq!(events["events"][0]["country"], json!(null));
    put(json!({ "mode": "aggregate" })).await.expect(200);
    http.get(&format!("{ANALYTICS}/events")).await.expect_problem(422, "analytics-invalid");
    kurz.stop().await;
}

// threats: D11
#[tokio::test]
async fn only_members_ask_and_in_main_everybody_about_their_own_links() {
    let server = TestServer::builder().accounts().process().start();
    let (ada, bob) = (server.register("ada").await, server.register("bob").await);
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    let promo = link(&ada, "team", "promo").await;
    let paths = [
        ANALYTICS.to_owned(),
        format!("{ANALYTICS}/events"),
        format!("{ANALYTICS}/export"),
        format!("{ANALYTICS}/live"),
        format!("{}/analytics", links::path_of(&promo)),
        "/api/v1/workspaces/team/privacy".to_owned(),
        "/api/v1/admin/analytics".to_owned(),
    ];
    for path in &paths {
        bob.get(path).await.expect(404);
        server.http().get(path).await.expect(401);
    }
    bob.delete(ANALYTICS).await.expect(404);
    join(&ada, "team", ("bob", &bob), "viewer").await;
    bob.get(ANALYTICS).await.expect(200);
    bob.delete(ANALYTICS).await.expect_problem(403, "missing-role");
    let path = "/api/v1/workspaces/team/privacy";
    let put = bob.send(reqwest::Method::PUT, path, Some(&json!({}))).await;
    put.expect_problem(403, "missing-role");

    let own = link(&ada, "main", "adas").await;
    let http = server.http();
    for _ in 0..2 {
        http.get(&links::short_path(&own)).await.expect(302);
    }
    links::counted(&ada, &own, 2).await;
    let main = "/api/v1/workspaces/main/analytics?from=24h&class=all&group=link";
    let adas = ada.get(main).await.expect(200).json();
    assert_eq!(adas["total"]["clicks"], 2, "{adas}");
    let bobs = bob.get(main).await.expect(200).json();
    assert_eq!(
        (&bobs["total"]["clicks"], &bobs["groups"]["link"]["rows"]),
        (&json!(0), &json!([]))
    );
    bob.get(&format!("{}/analytics", links::path_of(&own))).await.expect(403);
}

#[tokio::test]
async fn analytics_are_shared_and_shares_are_revoked() {
    let (kurz, http) = with_events(&["DE"]).await;
    let path = format!("{ANALYTICS}/shares");
    for bad in [json!({ "scope": "planet" }), json!({ "scope": "link" })] {
        http.post(&path, &bad).await.expect_problem(422, "analytics-invalid");
    }
    http.post(&path, &json!({ "scope": "link", "subject": "nothing" })).await.expect(404);
    let body = json!({ "scope": "link", "subject": "promo", "groups": ["country"], "range": "7d" });
    let made = http.post(&path, &body).await.expect(201).json();
    assert!(made["url"].as_str().unwrap().contains("/s/"));
    assert_eq!((&made["subject"], &made["has_password"]), (&json!("promo"), &json!(false)));
    let listed = http.get(&path).await.expect(200).json();
    assert_eq!(listed["shares"][0]["id"], made["id"]);
    assert_eq!(listed["shares"][0]["url"], json!(null), "its address is shown once");
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    http.delete(&one).await.expect(204);
    http.delete(&one).await.expect_problem(404, "share-not-found");
    assert_eq!(http.get(&path).await.expect(200).json()["shares"], json!([]));
    kurz.stop().await;
}

#[tokio::test]
async fn clicks_are_followed_as_they_come() {
    let (kurz, http) = with_events(&[]).await;
    let base = kurz.base_url();
    let address = base.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!("GET {ANALYTICS}/live?class=all HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut seen = String::new();
    read_until(&mut stream, &mut seen, "event: now").await;
    assert!(seen.contains("text/event-stream") && !seen.contains("event: click"));
    http.get("/w/team/promo").await.expect(302);
    kurz.app().flush_all().await.unwrap();
    read_until(&mut stream, &mut seen, "event: click").await;
    read_until(&mut stream, &mut seen, "\"link\":\"promo\"").await;
    drop(stream);
    kurz.stop().await;
}

/// Read on until what was read contains `text`.
pub(super) async fn read_until(stream: &mut TcpStream, seen: &mut String, text: &str) {
    let mut buffer = [0; 4096];
    while !seen.contains(text) {
        let read = timeout(Duration::from_mins(1), stream.read(&mut buffer)).await;
        let count = read.expect("it does not come").unwrap();
        assert!(count > 0, "the stream ended: {seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}
