//! Links made without an account: for some hours, until somebody with the token claims them.

use kurz_core::time::Timestamp;
use kurz_test_support::TestServer;
use kurz_test_support::accounts::{code, shorten};
use serde_json::{Value, json};

fn time(value: &Value) -> i64 {
    Timestamp::parse_rfc3339(value.as_str().unwrap()).unwrap().as_ms()
}

#[tokio::test]
async fn a_link_made_without_an_account_lives_8_hours_and_is_random() {
    let server = TestServer::builder().accounts().process().start();
    let link = shorten(&server.http(), "https://example.com/").await;
    assert_eq!((&link["link_type"], &link["strategy"]), (&json!("TEMPORARY"), &json!("random")));
    assert_eq!(time(&link["expires_at"]) - time(&link["created_at"]), 8 * 3_600_000);
    assert_eq!(link["claim_token"].as_str().unwrap().len(), 22);
    let twin = shorten(&server.http(), "https://example.com/").await;
    assert_ne!(link["short_code"], twin["short_code"], "nothing is shared between strangers");
    for extra in [json!({ "custom_code": "mine" }), json!({ "strategy": "counter" })] {
        let mut body = json!({ "original_url": "https://example.com/" });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        server.http().post("/api/v1/links", &body).await.expect(401);
    }
    let far =
        json!({ "original_url": "https://example.com/", "expires_at": "2999-01-01T00:00:00Z" });
    let answer = server.http().post("/api/v1/links", &far).await.expect(422);
    assert_eq!(code(&answer), "expires-at-too-late");
    let ada = server.register("ada").await;
    let own = shorten(&ada, "https://example.com/").await;
    assert_eq!((&own["link_type"], &own["expires_at"]), (&json!("PERMANENT"), &json!(null)));
    assert_eq!(own.get("claim_token"), None);
}

// threats: D6
#[tokio::test]
async fn a_token_makes_the_link_ones_own_once() {
    let server = TestServer::builder().accounts().process().start();
    let link = shorten(&server.http(), "https://example.com/").await;
    let other = shorten(&server.http(), "https://example.com/other").await;
    let (ada, eve) = (server.register("ada").await, server.register("eve").await);
    let entry = |code: &Value, token: &Value| json!({ "short_code": code, "claim_token": token });
    let claim = json!({ "links": [
        entry(&other["short_code"], &link["claim_token"]),
        entry(&link["short_code"], &link["claim_token"]),
        entry(&link["short_code"], &link["claim_token"]),
        entry(&link["short_code"], &json!("nonsense")),
    ]});
    let answer = ada.post("/api/v1/links/claim", &claim).await.expect(200).json();
    let statuses: Vec<&Value> =
        answer["results"].as_array().unwrap().iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, [404, 200, 404, 404]);
    let claimed = &answer["results"][1]["link"];
    assert_eq!(claimed["link_type"], "PERMANENT");
    assert_eq!(claimed["expires_at"], json!(null));
    let again = eve.post("/api/v1/links/claim", &claim).await.expect(200).json();
    assert!(again["results"].as_array().unwrap().iter().all(|result| result["status"] == 404));
    let list = ada.get("/api/v1/workspaces/main/links").await.expect(200).json();
    assert_eq!(list["links"].as_array().unwrap().len(), 1);

    server.http().post("/api/v1/links/claim", &claim).await.expect(401);
    let many = vec![entry(&link["short_code"], &link["claim_token"]); 101];
    for links in [json!(many), json!([])] {
        let answer = ada.post("/api/v1/links/claim", &json!({ "links": links })).await.expect(422);
        assert_eq!(code(&answer), "claims-size");
    }
}
