//! Reports of abuse: bounded, no way to guess codes, for administrators alone; and look-alike hosts.

use kurz_test_support::pages::post_form;
use kurz_test_support::{TestServer, links};
use serde_json::json;

// threats: B5, B10
#[tokio::test]
async fn the_report_form_is_no_way_to_guess_codes_or_to_flood() {
    let server = TestServer::builder().accounts().from_now().limits().start().await;
    let visitor = server.visitor();
    for guess in 0..12 {
        let address = format!("guess{guess}");
        let fields = [("address", address.as_str()), ("reason", "other"), ("words", "")];
        let answer = post_form(&visitor, "/app/report", &fields).await;
        if guess < 10 {
            answer.expect(422);
        } else {
            let answer = answer.expect(429);
            assert!(answer.header("retry-after").is_some_and(|wait| wait.parse::<u8>().is_ok()));
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn reports_are_bounded_and_settled_and_for_administrators() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.administrator("root").await;
    server.sign_up("eve").await;
    let (root, eve) = (server.log_in("root").await, server.log_in("eve").await);
    eve.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let host = json!({ "host": "go.acme.example" });
    root.post("/api/v1/workspaces/acme/hosts", &host).await.expect(201);
    let link = json!({ "original_url": "https://example.com", "custom_code": "promo" });
    links::make(&eve, "main", &link).await;
    links::make(&eve, "acme", &link).await;
    let visitor = server.visitor();
    let report = async |address: &str| {
        let fields = [("address", address), ("reason", "malware"), ("words", "a\u{7}b")];
        post_form(&visitor, "/app/report", &fields).await.status
    };
    let own = format!("{}/promo", server.base_url());
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
    post_form(&visitor, "/app/report", &fields).await.expect(422);
    let fields = [("address", "promo"), ("reason", "nonsense"), ("words", "")];
    post_form(&visitor, "/app/report", &fields).await.expect(422);
    // As everywhere: not from another site.
    let fields = [("address", "promo"), ("reason", "other")];
    post_form(&server.http(), "/app/report", &fields).await.expect_problem(403, "csrf");

    let queue = "/api/v1/admin/reports";
    eve.get(queue).await.expect_problem(404, "not-found");
    server.http().get(queue).await.expect(401);
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
    server.execute(&format!("{sql}{}", rows.join(", "))).await;
    server
        .execute(&format!("delete from reports where link_id = {id} and client = '127.0.0.1'"))
        .await;
    server.execute(&format!("{sql} (5000, {id}, 'x', 'abuse', '', 1)")).await;
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
    server.stop().await;
}

// threats: A7
#[tokio::test]
async fn look_alike_hosts_are_flagged_and_shown_in_punycode() {
    let server = TestServer::builder().accounts().from_now().start().await;
    server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    for (code, url, suspicious) in [
        ("fake", "https://аррӏе.com/", true),
        ("puny", "https://XN--80ak6aa92e.com/", true),
        ("mixed", "https://pаypal.com/", true),
        ("real", "https://bücher.example/", false),
        ("plain", "https://example.com/xn--", false),
    ] {
        let link = json!({ "original_url": url, "custom_code": code });
        let made = links::make(&ada, "main", &link).await;
        assert_eq!(made["idn_suspicious"], suspicious, "{url}");
        assert_eq!(made["original_url"], url);
        let preview = server.visitor().get(&format!("/{code}+")).await.expect(200).text();
        assert_eq!(preview.contains("looks like another one"), suspicious, "{url}");
        assert_eq!(preview.contains(url), !suspicious, "{url}");
        server.http().get(&format!("/{code}")).await.expect(302);
    }
    server.stop().await;
}
