//! Keys and sessions that are nobody's: so many a minute for each address, and good ones are let in all the
//! same.

use http::HeaderName;
use kurz_test_support::accounts::register;
use kurz_test_support::http::Http;
use serde_json::json;

use super::{browser, expect_too_often, limited, pass};

/// Sixty a minute.
const BAD: usize = 60;

/// A key that is written as one and is nobody's.
fn bad_key(number: usize) -> String {
    format!("kurz_{number:042}A")
}

/// A good key of somebody who is signed in.
async fn good_key(ada: &Http) -> String {
    let body = json!({ "name": "a", "scopes": ["read"] });
    let made = ada.post("/api/v1/keys", &body).await.expect(201).json();
    made["key"].as_str().unwrap().to_owned()
}

// threats: C10
#[tokio::test]
async fn keys_that_are_nobodys_are_limited_by_address_and_good_ones_are_let_in() {
    let kurz = limited().start().await;
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    let (used, unused) = (good_key(&ada).await, good_key(&ada).await);
    let here = kurz.at("192.0.2.66");
    here.bearer(&used).get("/api/v1/me").await.expect(200);
    for number in 0..BAD {
        here.bearer(&bad_key(number)).get("/api/v1/me").await.expect_problem(401, "invalid-token");
    }
    expect_too_often(here.bearer(&bad_key(BAD)).get("/api/v1/me").await, 1);
    expect_too_often(here.bearer(&bad_key(0)).post("/api/v1/links", &json!({})).await, 1);
    // Good ones from the same address, one of them never seen before; and no key at all.
    for key in [&used, &unused] {
        here.bearer(key).get("/api/v1/me").await.expect(200);
    }
    here.get("/api/v1/stats").await.expect(200);
    // What costs no look-up does not count, nor does it become another answer.
    here.bearer("kurz_short").get("/api/v1/me").await.expect_problem(401, "invalid-token");
    here.bearer("a.b.c").get("/api/v1/me").await.expect_problem(401, "invalid-token");
    // Others are not concerned; the neighbours in an IPv6 /64 are.
    kurz.at("192.0.2.67").bearer(&bad_key(0)).get("/api/v1/me").await.expect(401);
    for host in 0..BAD {
        let near = kurz.at(&format!("2001:db8:0:7::{host:x}"));
        near.bearer(&bad_key(host)).get("/api/v1/me").await.expect(401);
    }
    let near = kurz.at("2001:db8:0:7:ffff::1");
    near.bearer(&bad_key(0)).get("/api/v1/me").await.expect(429);
    // `Retry-After` is right.
    pass(&kurz, 1);
    here.bearer(&bad_key(0)).get("/api/v1/me").await.expect(401);
    expect_too_often(here.bearer(&bad_key(0)).get("/api/v1/me").await, 1);
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn a_flood_of_bad_keys_keeps_no_good_one_behind_the_same_address_out() {
    let kurz = limited().start().await;
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    let unused = good_key(&ada).await;
    let mut flood = tokio::task::JoinSet::new();
    for task in 0..32 {
        let here = kurz.at("192.0.2.66");
        flood.spawn(async move {
            let mut refused = 0;
            for number in 0..20 {
                let key = bad_key(task * 20 + number);
                let status = here.bearer(&key).get("/api/v1/me").await.status;
                assert!([401, 429].contains(&status), "{status}");
                refused += usize::from(status == 401);
            }
            refused
        });
    }
    kurz.at("192.0.2.66").bearer(&unused).get("/api/v1/me").await.expect(200);
    let looked = flood.join_all().await.into_iter().sum::<usize>();
    assert_eq!(looked, BAD, "of 640 bad keys so many are told 401, and the others 429");
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn a_browser_whose_session_is_nobodys_is_not_signed_in_however_many_there_were() {
    let kurz = limited().start().await;
    let browser = browser(&kurz, "192.0.2.66", "en");
    for number in 0..BAD + 5 {
        let cookie = format!("__Host-kurz={number:021}A");
        let visitor = browser.with(HeaderName::from_static("cookie"), &cookie);
        visitor.get("/").await.expect(200);
    }
    // They counted: here, for keys.
    kurz.at("192.0.2.66").bearer(&bad_key(0)).get("/api/v1/me").await.expect(429);
    kurz.stop().await;
}
