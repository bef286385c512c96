//! A host that a workspace names has no effect before it is proven, or an administrator consents. The
//! names end in `.internal`, where kurz never looks for a file: the DNS decides.

use std::time::Duration;

use futures_util::future::join_all;
use kurz_test_support::dns::Dns;
use kurz_test_support::http::Http;
use kurz_test_support::pages::post_form;
use kurz_test_support::{Kind, TestServer, links, on_both_databases};
use reqwest::header::HOST;
use serde_json::{Value, json};

on_both_databases!(
    a_host_has_no_effect_before_its_owner_proves_it,
    administrators_consent_and_names_below_the_main_host_are_theirs,
    of_two_that_prove_a_host_at_once_one_gets_it,
    however_many_hosts_are_added_at_once_a_workspace_has_a_hundred,
    however_many_workspaces_are_made_at_once_an_account_has_so_many,
);

fn hosts(workspace: &str) -> String {
    format!("/api/v1/workspaces/{workspace}/hosts")
}

async fn start(kind: Kind, dns: &Dns) -> TestServer {
    let server = TestServer::builder().database(kind).accounts().from_now();
    let server = server.setting("KURZ_PUBLIC_URL", "https://kurz.example");
    server.setting("KURZ_DNS_RESOLVER", &dns.address()).start().await
}

/// A new account with a workspace of the same name.
async fn with_workspace(server: &TestServer, name: &str) -> Http {
    server.sign_up(name).await;
    let http = server.log_in(name).await;
    http.post("/api/v1/workspaces", &json!({ "id": name })).await.expect(201);
    http
}

/// Publish what a pending host asks for.
fn publish(dns: &Dns, pending: &Value) {
    let proof = &pending["proof"];
    dns.add(proof["txt_name"].as_str().unwrap(), proof["text"].as_str().unwrap());
}

async fn a_host_has_no_effect_before_its_owner_proves_it(kind: Kind) {
    let dns = Dns::start();
    let server = start(kind, &dns).await;
    let eve = with_workspace(&server, "eve").await;
    let ada = with_workspace(&server, "ada").await;
    let named = json!({ "host": "go.acme.internal" });
    let at_host = server.http().with(HOST, "go.acme.internal");
    let promo = |url: &str| json!({ "original_url": url, "custom_code": "promo" });

    let squatted = eve.post(&hosts("eve"), &named).await.expect(201).json();
    assert_eq!(squatted["status"], "pending");
    assert_eq!(squatted["proof"]["txt_name"], "_kurz.go.acme.internal");
    assert_eq!(squatted["proof"]["http_url"], "http://go.acme.internal/.well-known/kurz-host");
    let again = eve.post(&hosts("eve"), &named).await.expect(201).json();
    assert_eq!(again, squatted, "who names it again publishes the same text");
    let evil = links::make(&eve, "eve", &promo("https://evil.example/")).await;
    assert_eq!(evil["short_url"], "https://kurz.example/promo");
    // What any unknown host answers: as the main host does.
    assert_eq!(
        at_host.get("/promo").await.expect(302).header("location"),
        Some("https://evil.example/")
    );
    assert_eq!(eve.get("/api/v1/workspaces/eve").await.json()["hosts"], json!([]));

    // The pending host of one keeps no other from naming it, and their texts differ.
    let owned = ada.post(&hosts("ada"), &named).await.expect(201).json();
    assert_ne!(owned["proof"]["text"], squatted["proof"]["text"]);
    let good = links::make(&ada, "ada", &promo("https://good.example/")).await;
    assert_eq!(good["short_url"], "https://kurz.example/w/ada/promo");

    let check = |workspace: &str| format!("{}/go.acme.internal/check", hosts(workspace));
    let refused = ada.post(&check("ada"), &json!({})).await.expect_problem(409, "host-unproven");
    let said = refused["detail"].as_str().unwrap();
    assert!(said.contains("_kurz.go.acme.internal has no TXT record"), "{said}");
    publish(&dns, &owned);
    // Not over and over: the owner of the name did not ask for the traffic.
    let soon = ada.post(&check("ada"), &json!({})).await;
    assert_eq!(soon.header("retry-after"), Some("10"));
    soon.expect_problem(429, "too-many-requests");
    // What one publishes proves nothing for another.
    let refused = eve.post(&check("eve"), &json!({})).await.expect_problem(409, "host-unproven");
    assert!(refused["detail"].as_str().unwrap().contains("are others"), "{refused}");
    assert_eq!(at_host.get("/promo").await.header("location"), Some("https://evil.example/"));

    server.advance(Duration::from_secs(10));
    let active = ada.post(&check("ada"), &json!({})).await.expect(200).json();
    assert_eq!((&active["status"], &active["proof"]), (&json!("active"), &json!(null)));
    assert_eq!(
        at_host.get("/promo").await.expect(302).header("location"),
        Some("https://good.example/")
    );
    assert_eq!(links::show(&ada, &good).await["short_url"], "https://go.acme.internal/promo");
    ada.post(&check("ada"), &json!({})).await.expect(200);
    eve.post(&check("eve"), &json!({})).await.expect_problem(409, "host-taken");
    eve.delete(&format!("{}/go.acme.internal", hosts("eve"))).await.expect(204);
    assert_eq!(at_host.get("/promo").await.header("location"), Some("https://good.example/"));
    eve.post(&hosts("eve"), &named).await.expect_problem(409, "host-taken");
    server.stop().await;
}

async fn administrators_consent_and_names_below_the_main_host_are_theirs(kind: Kind) {
    let dns = Dns::start();
    let server = start(kind, &dns).await;
    server.administrator("root").await;
    let root = server.log_in("root").await;
    let eve = with_workspace(&server, "eve").await;
    for host in ["www.kurz.example", "a.b.kurz.example", "WWW.KURZ.EXAMPLE"] {
        let named = json!({ "host": host });
        eve.post(&hosts("eve"), &named).await.expect_problem(403, "host-reserved");
    }
    for http in [&eve, &root] {
        let main = json!({ "host": "kurz.example" });
        http.post(&hosts("eve"), &main).await.expect_problem(422, "host-invalid");
    }
    let given = json!({ "host": "team.kurz.example" });
    let given = root.post(&hosts("eve"), &given).await.expect(201).json();
    assert_eq!((&given["status"], &given["proof"]), (&json!("active"), &json!(null)));

    let named = json!({ "host": "go.eve.internal" });
    eve.post(&hosts("eve"), &named).await.expect(201);
    let approve = format!("{}/go.eve.internal/approve", hosts("eve"));
    eve.post(&approve, &json!({})).await.expect_problem(404, "not-found");
    let listed = eve.get(&hosts("eve")).await.json();
    assert_eq!(listed["hosts"][0]["host"], "team.kurz.example");
    assert_eq!(listed["hosts"][1]["status"], "pending");
    let approved = root.post(&approve, &json!({})).await.expect(200).json();
    assert_eq!(approved["status"], "active");
    root.post(&approve, &json!({})).await.expect_problem(404, "host-not-found");
    let audit = root.get("/api/v1/admin/audit?action=verified").await.expect(200).json();
    let entry = &audit["changes"][0];
    assert_eq!(entry["subject"], "eve/go.eve.internal", "{audit}");
    assert_eq!(entry["detail"]["note"], "administrator", "{audit}");
    server.stop().await;
}

async fn of_two_that_prove_a_host_at_once_one_gets_it(kind: Kind) {
    let dns = Dns::start();
    let server = start(kind, &dns).await;
    let eve = with_workspace(&server, "eve").await;
    let ada = with_workspace(&server, "ada").await;
    for round in 0..10 {
        let host = format!("go{round}.internal");
        let named = json!({ "host": host });
        for (http, id) in [(&eve, "eve"), (&ada, "ada")] {
            publish(&dns, &http.post(&hosts(id), &named).await.expect(201).json());
        }
        let check = |id: &str| format!("{}/{host}/check", hosts(id));
        let body = json!({});
        let (one, other) = (check("eve"), check("ada"));
        let answers = tokio::join!(eve.post(&one, &body), ada.post(&other, &body));
        let mut statuses = [answers.0.status, answers.1.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{host}");
    }
    server.stop().await;
}

async fn however_many_hosts_are_added_at_once_a_workspace_has_a_hundred(kind: Kind) {
    let dns = Dns::start();
    let server = start(kind, &dns).await;
    server.administrator("root").await;
    let root = server.log_in("root").await;
    let eve = with_workspace(&server, "eve").await;
    let added = (0..130).map(|number| {
        let http = if number % 2 == 0 { &eve } else { &root };
        let named = json!({ "host": format!("h{number}.internal") });
        async move { http.post(&hosts("eve"), &named).await }
    });
    let answers = join_all(added).await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(made, 100);
    for answer in answers.into_iter().filter(|answer| answer.status != 201) {
        answer.expect_problem(422, "hosts-too-many");
    }
    let listed = eve.get(&hosts("eve")).await.json();
    assert_eq!(listed["hosts"].as_array().unwrap().len(), 100);
    server.stop().await;
}

async fn however_many_workspaces_are_made_at_once_an_account_has_so_many(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now();
    let server = server.setting("KURZ_WORKSPACE_LIMIT", "5").start().await;
    server.administrator("root").await;
    let root = server.log_in("root").await;
    server.sign_up("eve").await;
    let eve = server.log_in("eve").await;
    let create = |http: &Http, number: u32| {
        let (http, body) = (http.clone(), json!({ "id": format!("w{number}") }));
        async move { http.post("/api/v1/workspaces", &body).await }
    };
    let answers = join_all((0..16).map(|number| create(&eve, number))).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len(), 5);
    let one = made[0].json()["id"].as_str().unwrap().to_owned();
    for answer in answers.into_iter().filter(|answer| answer.status != 201) {
        answer.expect_problem(403, "workspaces-too-many");
    }
    eve.delete(&format!("/api/v1/workspaces/{one}")).await.expect(204);
    create(&eve, 100).await.expect(201);
    create(&eve, 101).await.expect_problem(403, "workspaces-too-many");
    for answer in join_all((200..210).map(|number| create(&root, number))).await {
        answer.expect(201);
    }
    server.stop().await;
}

#[tokio::test]
async fn the_page_says_what_to_publish_and_checks_it() {
    let dns = Dns::start();
    let server = start(Kind::Sqlite, &dns).await;
    let page = server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let page = page.with(reqwest::header::ORIGIN, "https://kurz.example");
    let fields = [("host", "go.acme.internal")];
    post_form(&page, "/app/w/acme/hosts", &fields).await.expect(303);
    let shown = page.get("/app/w/acme/settings?note=pending").await.expect(200).text();
    let pending = ada.get(&hosts("acme")).await.json()["hosts"][0].clone();
    for part in ["txt_name", "http_url", "text"] {
        let text = pending["proof"][part].as_str().unwrap();
        assert!(shown.contains(&format!("<code>{text}</code>")), "{part}");
    }
    assert!(shown.contains("/hosts/check") && !shown.contains("/hosts/approve"));
    let refused = post_form(&page, "/app/w/acme/hosts/check", &fields).await.expect(409).text();
    assert!(refused.contains("has no TXT record"), "{refused}");
    publish(&dns, &pending);
    server.advance(Duration::from_secs(10));
    let checked = post_form(&page, "/app/w/acme/hosts/check", &fields).await.expect(303);
    assert_eq!(checked.header("location"), Some("/app/w/acme/settings?note=host"));
    let shown = page.get("/app/w/acme/settings").await.expect(200).text();
    assert!(shown.contains("<code>go.acme.internal</code>") && !shown.contains("kurz-host="));
    server.stop().await;
}

#[tokio::test]
async fn the_command_line_names_checks_and_approves_hosts() {
    let dns = Dns::start();
    let server = TestServer::builder().accounts();
    let server = server.setting("KURZ_DNS_RESOLVER", &dns.address()).process().start();
    let root = server.administrator("root").await;
    let ada = server.register("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "acme" })).await.expect(201);
    let key = async |http: &Http| {
        let body = json!({ "name": "a", "scopes": ["read", "create", "manage"] });
        http.post("/api/v1/keys", &body).await.expect(201).json()["key"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (adas, roots) = (key(&ada).await, key(&root).await);
    let kurz = |key: &str, command: &str, host: &str| {
        let program =
            kurz_test_support::Program::kurz(&["workspace", "host", command, "acme", host]);
        program.env("KURZ_URL", server.base_url()).env("KURZ_API_KEY", key).run("")
    };
    let said = kurz(&adas, "add", "go.acme.internal");
    let said = String::from_utf8(said.stdout).unwrap();
    let text = said.split_whitespace().find(|word| word.starts_with("kurz-host=")).unwrap();
    assert!(said.contains("TXT record  _kurz.go.acme.internal"), "{said}");
    dns.add("_kurz.go.acme.internal", text);
    let checked = kurz(&adas, "check", "go.acme.internal");
    assert_eq!(checked.stdout, b"go.acme.internal is active\n");
    kurz(&adas, "add", "two.acme.internal");
    let unproven = kurz(&adas, "check", "two.acme.internal");
    assert_eq!(unproven.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unproven.stderr).contains("no TXT record"));
    assert_ne!(kurz(&adas, "approve", "two.acme.internal").status.code(), Some(0));
    assert_eq!(
        kurz(&roots, "approve", "two.acme.internal").stdout,
        b"two.acme.internal is active\n"
    );
}
