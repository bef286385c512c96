//! Abuse in a browser: a visitor reports a link, an administrator looks into it and disables it, its owner
//! sees why.

use serde_json::json;

use super::browser::{Browser, Screen, on_both_screens};
use super::stage::{Stage, post};
use crate::harness::instance::Kind;

on_both_screens!(a17_a_link_is_reported_looked_into_disabled_and_let_go);

async fn a17_a_link_is_reported_looked_into_disabled_and_let_go(screen: Screen) {
    let stage = Stage::start().await;
    stage.administrator("root").await;
    stage.sign_up("eve").await;
    let eve = stage.log_in("eve").await;
    for code in ["bait", "fine"] {
        let link = json!({ "original_url": "https://аррӏе.com/pay", "custom_code": code });
        stage.link(&eve, "main", &link).await;
    }

    // Anybody, from the preview, in their own words; it works without scripts.
    let browser = Browser::open(&stage.base(), screen).await;
    browser.without_scripts().await;
    browser.go("/bait+").await;
    browser.read("xn--80ak6aa92e.com").await;
    browser.read("looks like another one").await;
    browser.click("a[href^='/app/report']").await;
    browser.see("#address").await;
    browser.fill("#words", "It asks for my <b>password</b>").await;
    browser.click("main form button").await;
    browser.read("We have received your report").await;
    browser.go("/app/report").await;
    browser.fill("#address", "no-such-code").await;
    browser.click("main form button").await;
    browser.read("There is no such link on this server").await;
    browser.fill("#address", "fine").await;
    browser.click("main form button").await;
    browser.read("We have received your report").await;
    browser.close().await;

    let browser = Browser::open(&stage.base(), screen).await;
    browser.sign_in("root", crate::people::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/admin").await;
    browser.click("a[href='/app/admin/reports']").await;
    browser.read("It asks for my <b>password</b>").await;
    browser.read("https://xn--80ak6aa92e.com/pay").await;
    browser.click("section:has(a[href$='/l/fine']) button[value=dismiss]").await;
    browser.until("!document.querySelector(\"a[href$='/l/fine']\")").await;
    browser.script("document.querySelector('select').value = 'phishing'").await;
    browser.click("section:has(a[href$='/l/bait']) button[value=disable]").await;
    browser.read("No open reports.").await;
    stage.http().get("/bait").await.expect_problem(410, "link-disabled");
    stage.http().get("/fine").await.expect(302);
    browser.go("/bait").await;
    browser.read("Link disabled").await;
    browser.click("a").await;
    browser.see("#address").await;

    browser.go("/app/admin/audit?action=disabled").await;
    browser.read("main/bait").await;
    browser.read("root@example.com").await;
    browser.close().await;

    let browser = Browser::open(&stage.base(), screen).await;
    browser.sign_in("eve", crate::people::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/w/main/l/bait").await;
    browser.read("This link is disabled").await;
    browser.read("pretends to be another site").await;
    browser.until("!document.querySelector(\"form[action$='/enable']\")").await;
    browser.close().await;

    let browser = Browser::open(&stage.base(), screen).await;
    browser.sign_in("root", crate::people::PASSWORD).await;
    browser.at("/app/w/main").await;
    browser.go("/app/w/main/l/bait").await;
    browser.click("form[action$='/enable'] button").await;
    browser.see("form[action$='/disable'] button").await;
    stage.http().get("/bait").await.expect(302);
    browser.close().await;
    stage.stop().await;
}

#[tokio::test]
async fn b5_b10_the_report_form_is_no_way_to_guess_codes_or_to_flood() {
    let stage = Stage::with(Kind::Sqlite, &[("KURZ_LIMITS", "on")]).await;
    let visitor = stage.visitor();
    for guess in 0..12 {
        let address = format!("guess{guess}");
        let fields = [("address", address.as_str()), ("reason", "other"), ("words", "")];
        let answer = post(&visitor, "/app/report", &fields).await;
        if guess < 10 {
            answer.expect(422);
        } else {
            let answer = answer.expect(429);
            assert!(answer.header("retry-after").is_some_and(|wait| wait.parse::<u8>().is_ok()));
        }
    }
    stage.stop().await;
}

#[tokio::test]
async fn reports_are_bounded_and_settled_and_for_administrators() {
    let stage = Stage::start().await;
    stage.administrator("root").await;
    stage.sign_up("eve").await;
    let (root, eve) = (stage.log_in("root").await, stage.log_in("eve").await);
    eve.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let host = json!({ "host": "go.acme.example" });
    eve.post("/api/v1/workspaces/acme/hosts", &host).await.expect(201);
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    stage.link(&eve, "main", &link).await;
    stage.link(&eve, "acme", &link).await;
    let visitor = stage.visitor();
    let report = async |address: &str| {
        let fields = [("address", address), ("reason", "malware"), ("words", "a\u{7}b")];
        post(&visitor, "/app/report", &fields).await.status
    };
    let own = format!("{}/promo", stage.base());
    // One address counts once for each link, however it writes the link's.
    for address in ["promo", "/promo", own.as_str(), "w/main/promo"] {
        assert_eq!(report(address).await, 303, "{address}");
    }
    assert_eq!(report("https://go.acme.example/promo").await, 303);
    for address in ["", "nope", "https://evil.example/promo", "https://go.acme.example/nope", "a b"]
    {
        assert_eq!(report(address).await, 422, "{address}");
    }
    let long = "x".repeat(1001);
    let fields = [("address", "promo"), ("reason", "other"), ("words", long.as_str())];
    post(&visitor, "/app/report", &fields).await.expect(422);
    let fields = [("address", "promo"), ("reason", "nonsense"), ("words", "")];
    post(&visitor, "/app/report", &fields).await.expect(422);
    // As everywhere: not from another site.
    let fields = [("address", "promo"), ("reason", "other")];
    post(&stage.http(), "/app/report", &fields).await.expect_problem(403, "csrf");

    let queue = "/api/v1/admin/reports";
    eve.get(queue).await.expect_problem(404, "not-found");
    stage.http().get(queue).await.expect(401);
    let listed = root.get(queue).await.expect(200).json();
    assert_eq!((listed["open"].as_i64(), listed["links"].as_array().unwrap().len()), (Some(2), 2));
    assert_eq!(listed["links"][0]["count"], 1);
    assert_eq!(listed["links"][0]["reports"][0]["words"], "ab");
    assert_eq!(listed["links"][0]["reports"][0]["client"], "127.0.0.1");

    // A hundred of one link are enough; what comes then is thanked for and not kept.
    let id = listed["links"][0]["link"]["id"].as_i64().unwrap();
    let rows: Vec<String> = (0..99)
        .map(|at| format!("({}, {id}, '192.0.2.{at}', 'abuse', '', 1)", 1000 + at))
        .collect();
    let sql = "insert into reports (id, link_id, client, reason, words, at) values ";
    stage.execute(&format!("{sql}{}", rows.join(", "))).await;
    stage
        .execute(&format!("delete from reports where link_id = {id} and client = '127.0.0.1'"))
        .await;
    stage.execute(&format!("{sql} (5000, {id}, 'x', 'abuse', '', 1)")).await;
    assert_eq!(report("promo").await, 303);
    assert_eq!(report("https://go.acme.example/promo").await, 303);
    let listed = root.get(queue).await.expect(200).json();
    assert_eq!((&listed["links"][0]["count"], &listed["open"]), (&json!(100), &json!(101)));

    for workspace in ["main", "acme"] {
        let path = format!("/api/v1/workspaces/{workspace}/links/promo/reports/dismiss");
        eve.post(&path, &json!({})).await.expect_problem(404, "not-found");
        root.post(&path, &json!({})).await.expect(204);
        root.post(&path, &json!({})).await.expect_problem(404, "report-not-found");
    }
    let noted = root.get("/api/v1/admin/audit?action=reports-dismissed").await.expect(200).json();
    assert_eq!(noted["changes"].as_array().unwrap().len(), 2);
    stage.stop().await;
}

#[tokio::test]
async fn a7_look_alike_hosts_are_flagged_and_shown_in_punycode() {
    let stage = Stage::start().await;
    stage.sign_up("ada").await;
    let ada = stage.log_in("ada").await;
    for (code, url, suspicious) in [
        ("fake", "https://аррӏе.com/", true),
        ("puny", "https://XN--80ak6aa92e.com/", true),
        ("mixed", "https://pаypal.com/", true),
        ("real", "https://bücher.example/", false),
        ("plain", "https://example.com/xn--", false),
    ] {
        let link = json!({ "original_url": url, "custom_code": code });
        let made = stage.link(&ada, "main", &link).await;
        assert_eq!(made["idn_suspicious"], suspicious, "{url}");
        assert_eq!(made["original_url"], url);
        let preview = stage.visitor().get(&format!("/{code}+")).await.expect(200).text();
        assert_eq!(preview.contains("looks like another one"), suspicious, "{url}");
        assert_eq!(preview.contains(url), !suspicious, "{url}");
        stage.http().get(&format!("/{code}")).await.expect(302);
    }
    stage.stop().await;
}
