//! Analytics in a browser: every page fit to be seen, and a dashboard that is used without scripts.

use kurz::app::{ShareRequest, ShareScope};
use kurz_core::account::Caller;
use kurz_core::code::WorkspaceId;
use kurz_test_support::http::Http;
use kurz_test_support::made_up_events::store_past;
use kurz_test_support::{TestServer, links};
use serde_json::{Value, json};

use super::accessibility::look;
use super::browser::{Browser, Screen, on_both_screens};

on_both_screens!(
    a_dashboard_is_narrowed_and_widened_without_scripts,
    a_share_is_opened_with_its_password_and_shows_nothing_else,
);

/// A workspace `acme` with a past of 60 days, and one without any.
async fn server_with_a_past() -> (TestServer, Http) {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let http = server.log_in("ada").await;
    for workspace in ["acme", "quiet"] {
        http.post("/api/v1/workspaces", &json!({ "id": workspace })).await.expect(201);
    }
    let mut ids = Vec::new();
    for code in ["spring", "launch", "talk", "handbook", "find-us", "newsletter-2026-11"] {
        let url = format!("https://example.com/{code}");
        let tags = if code == "spring" { json!(["sale", "poster"]) } else { json!(["news"]) };
        let link = json!({ "original_url": url, "custom_code": code, "tags": tags });
        ids.push(links::make(&http, "acme", &link).await["id"].as_i64().unwrap());
    }
    let store = server.open_store().await;
    store_past(&store, "acme", &ids, server.clock.now(), (60, 400)).await;
    (server, http)
}

async fn sign_in(server: &TestServer, screen: Screen) -> Browser {
    let browser = Browser::open(&server.base_url(), screen).await;
    browser.sign_in("ada", kurz_test_support::accounts::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser
}

const PAGES: &[(&str, &str)] = &[
    ("analytics", "/app/w/acme/analytics"),
    ("analytics-90d", "/app/w/acme/analytics?from=90d&zone=Europe%2FBerlin&measure=visitors"),
    (
        "analytics-filtered",
        "/app/w/acme/analytics?filter=country%3ADE&filter=-referrer%3At.co&show=city,browser",
    ),
    ("analytics-today", "/app/w/acme/analytics?from=today"),
    ("analytics-empty", "/app/w/quiet/analytics"),
    ("analytics-link", "/app/w/acme/l/spring/analytics"),
    ("analytics-list", "/app/w/acme/analytics/list?group=country"),
    ("analytics-map", "/app/w/acme/analytics/map"),
    ("analytics-live", "/app/w/acme/analytics/live"),
    ("analytics-tag", "/app/w/acme/analytics?filter=tag%3Anews"),
    ("analytics-orphans", "/app/w/acme/analytics/orphans"),
    ("analytics-settings", "/app/w/acme/settings/analytics"),
    ("privacy", "/privacy/stats"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_analytics_is_fit_to_be_seen() {
    let (server, _) = server_with_a_past().await;
    let request = ShareRequest {
        scope: ShareScope::Link("spring".to_owned()),
        range: None,
        groups: None,
        filters: Vec::new(),
        password: None,
        expires_at: None,
        index: false,
    };
    let acme = WorkspaceId::parse("acme").unwrap();
    let shared = server.app().create_share(&Caller::OPEN, &acme, &request).await.unwrap().token;
    let browser = sign_in(&server, Screen::Desk).await;
    browser.watch().await;
    let mut faults = String::new();
    for (name, path) in PAGES {
        browser.go(path).await;
        browser.until("document.readyState === 'complete' && !document.querySelector('[data-map] picture')").await;
        faults.push_str(&look(&browser, name).await);
        let broken = browser.script("return window.__broken").await;
        assert_eq!(broken, json!([]), "{name}");
    }
    browser.go(&format!("/s/{shared}")).await;
    faults.push_str(&look(&browser, "analytics-shared").await);
    assert_eq!(faults, "");
    browser.close().await;
    server.stop().await;
}

/// The figures on top, in the order in which they stand there.
async fn figures(browser: &Browser) -> Vec<String> {
    let script =
        "return [...document.querySelectorAll('.figures strong')].map((one) => one.textContent)";
    let found = browser.script(script).await;
    found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

fn with_commas(number: &Value) -> String {
    let digits = number.as_u64().unwrap().to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

async fn a_dashboard_is_narrowed_and_widened_without_scripts(screen: Screen) {
    let (server, http) = server_with_a_past().await;
    let browser = sign_in(&server, screen).await;
    browser.without_scripts().await;
    browser.go("/app/w/acme").await;
    browser.click("a[href$='/analytics']").await;
    browser.at("/app/w/acme/analytics").await;
    let api = "/api/v1/workspaces/acme/analytics?from=30d&compare=previous&group=country";
    let answer = http.get(api).await.expect(200).json();
    let shown = figures(&browser).await;
    assert_eq!(shown[0], with_commas(&answer["total"]["clicks"]));
    assert_eq!(shown[1], with_commas(&answer["total"]["visitors"]));
    assert_eq!(shown[4], with_commas(&answer["total"]["bots"]));
    let rows = answer["groups"]["country"]["rows"].as_array().unwrap();
    let first = browser.see("#places tbody tr:first-child td:nth-child(2)").await;
    assert_eq!(first.text().await.unwrap(), with_commas(&rows[0]["clicks"]));

    // A row is a filter, and its chip takes it away again.
    browser.click("#places tbody tr:first-child a").await;
    browser.at("/app/w/acme/analytics?filter=country%3A").await;
    assert_eq!(figures(&browser).await[0], with_commas(&rows[0]["clicks"]));
    browser.click(".chips a").await;
    browser.until("!document.querySelector('.chips')").await;
    // Figures choose what the chart counts, and tabs what a card shows.
    browser.click(".figures li:nth-child(2) a").await;
    browser.until("location.search.includes('measure=visitors')").await;
    browser.click("#devices .segments a:nth-child(2)").await;
    browser.until("location.search.includes('show=browser')").await;
    browser.read("Firefox").await;
    // The whole list is searched.
    browser.click("#places .card-foot a").await;
    browser.at("/app/w/acme/analytics/list").await;
    browser.fill("#q", "austria").await;
    browser.click(".list-bar button").await;
    browser.until("document.querySelectorAll('.rows tbody tr').length === 1").await;
    browser.go("/app/w/acme/analytics/map").await;
    browser.until("document.querySelectorAll('.world a').length > 10").await;
    browser.close().await;
    server.stop().await;
}

async fn a_share_is_opened_with_its_password_and_shows_nothing_else(screen: Screen) {
    let (server, http) = server_with_a_past().await;
    let browser = sign_in(&server, screen).await;
    browser.go("/app/w/acme/l/spring/analytics").await;
    browser.click("[data-share]").await;
    browser.at("/app/w/acme/settings/analytics?link=spring").await;
    browser.fill("#password", "open sesame 1").await;
    browser.click("form[action$='/shares'] button").await;
    let address = browser.see("code.secret").await.text().await.unwrap();
    let path = format!("/s/{}", address.split_once("/s/").unwrap().1);
    browser.driver.delete_all_cookies().await.unwrap();
    browser.go(&path).await;
    browser.fill("#password", "wrong password").await;
    browser.click("main form button").await;
    browser.read("The password is wrong.").await;
    browser.fill("#password", "open sesame 1").await;
    browser.click("main form button").await;
    browser.see(".figures").await;
    let api = "/api/v1/workspaces/acme/links/spring/analytics?from=30d";
    let answer = http.get(api).await.expect(200).json();
    assert_eq!(figures(&browser).await[0], with_commas(&answer["total"]["clicks"]));
    let text = browser.script("return document.body.innerText").await;
    for other in ["handbook", "find-us", "newsletter-2026-11", "ada@example.com", "poster"] {
        assert!(!text.as_str().unwrap().contains(other), "{other} in {text}");
    }
    // Not by its filters either.
    browser.go(&format!("{path}?filter=link%3Alaunch")).await;
    browser.read("That did not work").await;
    browser.close().await;
    server.stop().await;
}

/// With scripts the page of now is made anew when somebody clicks; nobody has to ask for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_now_follows_clicks_by_itself() {
    let (server, _) = server_with_a_past().await;
    let browser = sign_in(&server, Screen::Desk).await;
    browser.watch().await;
    browser.go("/app/w/acme/analytics/live").await;
    let clicks = "Number(document.querySelector('.live-figures strong').textContent)";
    browser.until(&format!("{clicks} >= 0")).await;
    let before = browser.script(&format!("return {clicks}")).await.as_u64().unwrap();
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let visitor = server.visitor().with(reqwest::header::USER_AGENT, agent);
    for _ in 0..3 {
        visitor.get("/w/acme/spring").await.expect(302);
    }
    browser.until(&format!("{clicks} === {}", before + 3)).await;
    browser.read("The last clicks").await;
    browser
        .until("document.querySelector('.last-clicks td:nth-child(2)').textContent === 'spring'")
        .await;
    browser.until("document.querySelectorAll('.minutes .value').length > 0").await;
    assert_eq!(browser.script("return window.__broken").await, json!([]));
    browser.close().await;
    server.stop().await;
}
