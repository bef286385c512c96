//! Deleting an account: nothing is made with it from then on, whatever is under way, and no workspace is
//! left without an administrator.

use std::sync::Arc;

use futures_util::future::join_all;
use kurz::app::CleanupTimes;
use kurz::store::{AccountMark, NewAuditEntry, Subject};
use kurz_core::account::Email;
use kurz_test_support::accounts::{PASSWORD, code, email, join};
use kurz_test_support::http::Http;
use kurz_test_support::pages::post_form;
use kurz_test_support::{Kind, NOON, TestServer, on_both_databases};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 4;
const CREATORS: usize = 8;

on_both_databases! {
    an_account_that_is_deleted_while_it_creates_leaves_no_live_link,
    a_deletion_that_was_interrupted_is_finished_by_the_cleanup,
    the_last_administrator_cannot_delete_the_account_and_learns_why,
}

fn password() -> Value {
    json!({ "password": PASSWORD })
}

/// Create links, in every way there is, until the account is refused; their codes.
async fn create_until_refused(
    http: &Http,
    (round, creator): (usize, usize),
    claims: &[Value],
) -> Vec<String> {
    let mut codes = Vec::new();
    for number in 0.. {
        let url = format!("https://example.com/{round}/{creator}/{number}");
        let one = match (creator + number) % 4 {
            0 => json!({ "original_url": url, "tags": ["a", "b"] }),
            1 => json!({ "original_url": url, "strategy": "deterministic" }),
            _ => json!({ "original_url": url }),
        };
        let answer = match (creator + number) % 4 {
            2 => {
                let body = json!({ "links": [one, { "original_url": format!("{url}/second") }] });
                http.post("/api/v1/workspaces/main/links/bulk", &body).await
            }
            3 if creator == 3 && number / 4 < claims.len() => {
                let body = json!({ "links": [claims[number / 4]] });
                http.post("/api/v1/links/claim", &body).await
            }
            _ => http.post("/api/v1/links", &one).await,
        };
        if answer.status >= 400 {
            assert_eq!(answer.status, 401, "{}", answer.text());
            return codes;
        }
        let body = answer.json();
        // Of several, those that were made or claimed.
        let made: Vec<&Value> = match body["results"].as_array() {
            Some(results) => results.iter().filter_map(|result| result.get("link")).collect(),
            None => vec![&body],
        };
        codes.extend(made.iter().map(|link| link["short_code"].as_str().unwrap().to_owned()));
    }
    codes
}

async fn an_account_that_is_deleted_while_it_creates_leaves_no_live_link(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let server = Arc::new(server);
    for round in 0..ROUNDS {
        let name = format!("ada{round}");
        server.sign_up(&name).await;
        let ada = server.log_in(&name).await;
        let mut claims = Vec::new();
        for number in 0..30 {
            let body = json!({ "original_url": format!("https://example.com/claim/{number}") });
            let made = server.http().post("/api/v1/links", &body).await.expect(201).json();
            claims.push(
                json!({ "short_code": made["short_code"], "claim_token": made["claim_token"] }),
            );
        }
        let creators = join_all(
            (0..CREATORS).map(|creator| create_until_refused(&ada, (round, creator), &claims)),
        );
        let delete = async {
            let body = password();
            ada.send(reqwest::Method::DELETE, "/api/v1/me", Some(&body)).await.expect(204);
        };
        let (codes, ()) = tokio::join!(creators, delete);
        let codes: Vec<String> = codes.into_iter().flatten().collect();
        assert!(codes.len() > CREATORS, "they created while the account was deleted");
        for code in codes {
            let answer = server.http().get(&format!("/{code}")).await;
            assert_ne!(answer.status, 302, "round {round}: {code} has no owner and is alive");
        }
        let orphans = "select count(*) from links where owner_id is not null and deleted_at is null
            and purged_at is null and owner_id not in (select id from users)";
        assert_eq!(server.home.number(orphans).await, 0, "round {round}");
        server.sign_up(&name).await;
    }
}

async fn a_deletion_that_was_interrupted_is_finished_by_the_cleanup(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().start().await;
    server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    let body = json!({ "original_url": "https://example.com/", "custom_code": "mine" });
    ada.post("/api/v1/links", &body).await.expect(201);
    // As far as a process that is killed in the middle comes.
    let store = server.open_store().await;
    let user = store.find_user(&Email::parse(&email("ada")).unwrap()).await.unwrap().unwrap();
    let entry = |id| NewAuditEntry {
        id,
        at: NOON,
        user: Some(user.id),
        key: None,
        action: "left",
        subject: Subject::user(user.id),
        detail: "{}".to_owned(),
        client: None,
    };
    let first = store.take_numbers("change", 2).await.unwrap();
    let marked = store.mark_user_deleted(user.id, NOON, &entry(first)).await.unwrap();
    assert_eq!(marked, AccountMark::Done);
    let again = store.mark_user_deleted(user.id, NOON, &entry(first + 1)).await.unwrap();
    assert_eq!(again, AccountMark::Gone);
    let login = json!({ "email": email("ada"), "password": PASSWORD });
    server.http().post("/api/v1/auth/login", &login).await.expect(401);
    server.http().get("/mine").await.expect(302);

    let hour = Duration::from_hours(1);
    let times = CleanupTimes { lock_at_least: hour, lock_at_most: hour, purge_grace: hour };
    server.app().clean_up(times, &CancellationToken::new()).await.unwrap().unwrap();
    let gone = server.http().get("/mine").await;
    assert_ne!(gone.status, 302);
    assert_eq!(server.home.number("select count(*) from users").await, 0);
    server.sign_up("ada").await;
    server.stop().await;
}

async fn the_last_administrator_cannot_delete_the_account_and_learns_why(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    let page = server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    server.sign_up("bob").await;
    let bob = server.log_in("bob").await;
    for workspace in ["beta", "acme", "shared"] {
        ada.post("/api/v1/workspaces", &json!({ "id": workspace })).await.expect(201);
        join(&ada, workspace, ("bob", &bob), "member").await;
    }
    let of_bob =
        |workspace: &str| format!("/api/v1/workspaces/{workspace}/members/{}", email("bob"));
    ada.patch(&of_bob("shared"), &json!({ "role": "admin" })).await.expect(200);
    let delete = async || ada.send(reqwest::Method::DELETE, "/api/v1/me", Some(&password())).await;

    let refused = delete().await.expect(409);
    assert_eq!(code(&refused), "last-admin");
    assert_eq!(refused.json()["workspaces"], json!(["acme", "beta"]));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("acme, beta") && detail.contains("or delete"), "{detail}");
    let shown =
        post_form(&page, "/app/account/delete", &[("password", PASSWORD)]).await.expect(409);
    assert!(shown.text().contains("acme, beta"), "{}", shown.text());
    ada.get("/api/v1/me").await.expect(200);

    // A disabled administrator administers nothing.
    server.administrator("root").await;
    let root = server.log_in("root").await;
    let disable = format!("/api/v1/admin/users/{}/disable", email("bob"));
    root.post(&disable, &json!({})).await;
    let refused = delete().await.expect(409).json();
    assert_eq!(refused["workspaces"], json!(["acme", "beta", "shared"]));
    root.post(&disable.replace("/disable", "/enable"), &json!({})).await;

    ada.patch(&of_bob("acme"), &json!({ "role": "admin" })).await.expect(200);
    assert_eq!(delete().await.expect(409).json()["workspaces"], json!(["beta"]));
    ada.delete("/api/v1/workspaces/beta").await.expect(204);
    delete().await.expect(204);
    ada.get("/api/v1/me").await.expect(401);
    server.stop().await;
}
