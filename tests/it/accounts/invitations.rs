//! Invitations to workspaces: who is invited accepts or declines, and nobody learns who has an account.

use std::time::Duration;

use futures_util::future::join_all;
use kurz_test_support::accounts::{code, email, invite, join};
use kurz_test_support::http::Http;
use kurz_test_support::pages::post_form;
use kurz_test_support::{Kind, TestServer, on_both_databases};
use serde_json::{Value, json};

const TEAM: &str = "/api/v1/workspaces/team";
const INVITATIONS: &str = "/api/v1/workspaces/team/invitations";
const MINE: &str = "/api/v1/me/invitations";
const ACCEPT: &str = "/api/v1/me/invitations/accept";
const DECLINE: &str = "/api/v1/me/invitations/decline";

on_both_databases! {
    an_invitation_is_accepted_declined_revoked_or_over,
    an_account_that_is_newer_than_the_invitation_needs_its_link,
    never_more_wait_for_an_answer_than_may,
}

async fn team(kind: Kind) -> (TestServer, Http) {
    let server = TestServer::builder().database(kind).accounts().from_now().start().await;
    server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    (server, ada)
}

async fn person(server: &TestServer, name: &str) -> Http {
    server.sign_up(name).await;
    server.log_in(name).await
}

async fn received(person: &Http) -> Vec<Value> {
    person.get(MINE).await.expect(200).json()["invitations"].as_array().unwrap().clone()
}

async fn an_invitation_is_accepted_declined_revoked_or_over(kind: Kind) {
    let (server, ada) = team(kind).await;
    let bob = person(&server, "bob").await;
    let eve = person(&server, "eve").await;
    server.advance(Duration::from_secs(1));

    let made = invite(&ada, "team", "bob", "viewer").await;
    assert_eq!((&made["email"], &made["role"]), (&json!(email("bob")), &json!("viewer")));
    assert_eq!(made["invited_by"], json!(email("ada")));
    let url = made["url"].as_str().unwrap();
    assert!(url.ends_with(&format!("/app/invitation?token={}", made["token"].as_str().unwrap())));
    bob.get(TEAM).await.expect(404);
    let listed = ada.get(INVITATIONS).await.expect(200);
    assert_eq!(listed.json()["invitations"][0]["email"], json!(email("bob")));
    assert!(!listed.text().contains(made["token"].as_str().unwrap()), "the token is shown once");
    let mine = received(&bob).await;
    assert_eq!(mine.len(), 1);
    assert_eq!((&mine[0]["workspace"], &mine[0]["needs_link"]), (&json!("team"), &json!(false)));
    assert_eq!(received(&eve).await, Vec::<Value>::new());

    // By its number it is for the account with the address alone.
    let id = json!({ "id": made["id"] });
    assert_eq!(code(&eve.post(ACCEPT, &id).await.expect(404)), "invitation-not-found");
    eve.post(DECLINE, &id).await.expect(404);
    let joined = bob.post(ACCEPT, &id).await.expect(200).json();
    assert_eq!((&joined["workspace"], &joined["role"]), (&json!("team"), &json!("viewer")));
    bob.get(TEAM).await.expect(200);
    bob.post(ACCEPT, &id).await.expect(404);
    let again = json!({ "email": " BOB@example.com " });
    assert_eq!(code(&ada.post(INVITATIONS, &again).await.expect(409)), "member-taken");

    // By the token it is for whoever was given it; a second one ends the first.
    let first = invite(&ada, "team", "carol", "member").await;
    let second = invite(&ada, "team", "carol", "admin").await;
    let by = |made: &Value| json!({ "token": made["token"] });
    eve.post(ACCEPT, &by(&first)).await.expect(404);
    eve.post(DECLINE, &by(&second)).await.expect(204);
    eve.post(ACCEPT, &by(&second)).await.expect(404);
    let third = invite(&ada, "team", "carol", "member").await;
    ada.delete(&format!("{INVITATIONS}/{}", third["id"])).await.expect(204);
    ada.delete(&format!("{INVITATIONS}/{}", third["id"])).await.expect(404);
    eve.post(ACCEPT, &by(&third)).await.expect(404);
    let fourth = invite(&ada, "team", "carol", "member").await;
    server.advance(Duration::from_hours(7 * 24));
    let eve = server.log_in("eve").await;
    eve.post(ACCEPT, &by(&fourth)).await.expect(404);
    let ada = server.log_in("ada").await;
    assert_eq!(ada.get(INVITATIONS).await.expect(200).json()["invitations"], json!([]));
    for bad in [json!({}), json!({ "id": 1, "token": "x" }), json!({ "id": "x" })] {
        eve.post(ACCEPT, &bad).await.expect(422);
    }
    eve.get(TEAM).await.expect(404);

    // Only administrators invite, and a workspace takes its invitations with it.
    let bob = server.log_in("bob").await;
    bob.post(INVITATIONS, &json!({ "email": email("eve") })).await.expect(403);
    bob.get(INVITATIONS).await.expect(403);
    let last = invite(&ada, "team", "eve", "member").await;
    ada.delete(TEAM).await.expect(204);
    eve.post(ACCEPT, &by(&last)).await.expect(404);
    assert_eq!(received(&eve).await, Vec::<Value>::new());
    server.stop().await;
}

async fn an_account_that_is_newer_than_the_invitation_needs_its_link(kind: Kind) {
    let (server, ada) = team(kind).await;
    let made = invite(&ada, "team", "bob", "member").await;
    server.advance(Duration::from_secs(1));
    // Addresses are not verified: anybody could have registered this one.
    let bob = person(&server, "bob").await;
    let mine = received(&bob).await;
    assert_eq!((&mine[0]["workspace"], &mine[0]["needs_link"]), (&json!("team"), &json!(true)));
    let id = json!({ "id": made["id"] });
    assert_eq!(code(&bob.post(ACCEPT, &id).await.expect(403)), "invitation-link-needed");
    assert_eq!(code(&bob.post(DECLINE, &id).await.expect(403)), "invitation-link-needed");
    bob.post(ACCEPT, &json!({ "token": made["token"] })).await.expect(200);
    bob.get(TEAM).await.expect(200);
    server.stop().await;
}

async fn never_more_wait_for_an_answer_than_may(kind: Kind) {
    let (server, ada) = team(kind).await;
    let tries = (0..116).map(|number| {
        let ada = &ada;
        async move {
            let body = json!({ "email": email(&format!("someone{number}")) });
            ada.post(INVITATIONS, &body).await.status
        }
    });
    let mut all = Vec::new();
    let mut tries: Vec<_> = tries.collect();
    while !tries.is_empty() {
        let part: Vec<_> = tries.drain(..tries.len().min(16)).collect();
        all.extend(join_all(part).await);
    }
    assert_eq!(all.iter().filter(|status| **status == 201).count(), 100, "{all:?}");
    assert_eq!(all.iter().filter(|status| **status == 422).count(), 16, "{all:?}");
    let pending = ada.get(INVITATIONS).await.expect(200).json();
    assert_eq!(pending["invitations"].as_array().unwrap().len(), 100);
    // One for the same address takes the place of the one before.
    let known = pending["invitations"][0]["email"].clone();
    ada.post(INVITATIONS, &json!({ "email": known })).await.expect(201);
    server.stop().await;
}

// threats: C9
#[tokio::test]
async fn the_answer_is_the_same_for_known_and_unknown_addresses() {
    let (server, ada) = team(Kind::Sqlite).await;
    person(&server, "known").await;
    let shape = async |email: String| {
        let answer = ada.post(INVITATIONS, &json!({ "email": email })).await.expect(201);
        let mut body = answer.json();
        let fields = body.as_object_mut().unwrap();
        assert_eq!(fields.remove("email"), Some(json!(email)));
        for own in ["id", "token", "url"] {
            assert!(fields.remove(own).is_some(), "{own}");
        }
        body
    };
    let (known, unknown) = (shape(email("known")).await, shape(email("unknown")).await);
    assert_eq!(known, unknown);
    // Nor does the list of them, or an answer to a wrong address, tell more.
    let pending = ada.get(INVITATIONS).await.expect(200).json();
    let (one, other) = (&pending["invitations"][0], &pending["invitations"][1]);
    let names = |one: &Value| one.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other));
    for bad in ["", "x", "@example.com"] {
        assert_eq!(
            code(&ada.post(INVITATIONS, &json!({ "email": bad })).await.expect(422)),
            "email-invalid"
        );
    }
    // The old way in is gone.
    let members = format!("{TEAM}/members");
    ada.post(&members, &json!({ "email": email("known") })).await.expect(405);
    server.stop().await;
}

#[tokio::test]
async fn the_pages_show_invitations_to_both_sides() {
    let (server, ada) = team(Kind::Sqlite).await;
    let bob = server.sign_up("bob").await;
    let fields =
        [("email", "ada@example.com"), ("password", kurz_test_support::accounts::PASSWORD)];
    let answer = post_form(&server.visitor(), "/login", &fields).await.expect(303);
    let cookie = kurz_test_support::pages::cookie(&answer);
    let admin = server.visitor().with(reqwest::header::COOKIE, &cookie);
    let settings = "/app/w/team/settings";
    let invited = post_form(
        &admin,
        "/app/w/team/invitations",
        &[("email", "bob@example.com"), ("role", "member")],
    );
    let page = invited.await.expect(200).text();
    assert!(page.contains("Invitation for bob@example.com created"), "{page}");
    let token = page.split("/app/invitation?token=").nth(1).unwrap();
    let token = token.split(['<', '"']).next().unwrap().to_owned();
    let page = admin.get(settings).await.expect(200).text();
    assert!(page.contains("Pending invitations") && !page.contains(&token), "{page}");

    let page = bob.get("/app/workspaces").await.expect(200).text();
    assert!(page.contains("/app/invitations/accept") && page.contains("ada@example.com"), "{page}");
    let link = format!("/app/invitation?token={token}");
    let page = bob.get(&link).await.expect(200).text();
    assert!(page.contains("Invitation to the workspace team"), "{page}");
    // Who is not signed in comes back after signing in, or registering.
    let sent = server.visitor().get(&link).await.expect(303);
    let login = sent.header("location").unwrap().to_owned();
    assert!(login.starts_with("/login?next=%2Fapp%2Finvitation%3Ftoken%3D"), "{login}");
    let form = server.visitor().get(&login).await.expect(200).text();
    assert!(form.contains("/register?next=%2Fapp%2Finvitation"), "{form}");

    let accepted =
        post_form(&bob, "/app/invitations/accept", &[("token", &token)]).await.expect(303);
    assert_eq!(accepted.header("location"), Some("/app/w/team/settings?note=joined"));
    assert_eq!(bob.get(&link).await.status, 404);
    let page = admin.get(settings).await.expect(200).text();
    assert!(!page.contains("Pending invitations") && page.contains("bob@example.com"), "{page}");
    let declined = invite(&ada, "team", "eve", "viewer").await;
    let token = declined["token"].as_str().unwrap();
    post_form(&bob, "/app/invitations/decline", &[("token", token)]).await.expect(303);
    let mine = invite(&ada, "team", "eve", "viewer").await;
    let revoke = [("id", mine["id"].to_string())];
    let revoke = [(revoke[0].0, revoke[0].1.as_str())];
    post_form(&admin, "/app/w/team/invitations/revoke", &revoke).await.expect(303);
    join(&ada, "team", ("eve", &person(&server, "eve").await), "viewer").await;
    server.stop().await;
}
