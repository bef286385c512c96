//! Signing in, signing up and confirming with a password: so many tries, then longer and longer waits,
//! and nobody is locked out.

use futures_util::future::join_all;
use kurz_test_support::accounts::register;
use kurz_test_support::accounts::{PASSWORD, email};
use kurz_test_support::pages::post_form;
use serde_json::json;

use super::{browser, expect_too_often, limited, log_in, pass, shorten};

/// Wrong without being compared.
const SHORT: &str = "wrong";

// threats: C9, C10
#[tokio::test]
async fn an_unknown_user_and_a_wrong_password_are_answered_and_limited_alike() {
    let kurz = limited().start().await;
    register(&kurz.at("192.0.2.1"), "ada").await;
    let attacker = kurz.at("192.0.2.66");
    let mut answers = Vec::new();
    for name in ["ada", "nobody"] {
        let wrong = log_in(&attacker, name, "not-the-password").await.expect(401);
        for _ in 0..4 {
            assert_eq!(log_in(&attacker, name, SHORT).await.expect(401).problem(), wrong.problem());
        }
        let refused = log_in(&attacker, name, PASSWORD).await;
        let limited = refused.problem();
        expect_too_often(refused, 60);
        answers.push((wrong.problem(), limited));
    }
    assert_eq!(answers[0], answers[1], "nothing tells the two apart");
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn tries_wait_twice_as_long_each_time_and_the_owner_is_not_locked_out() {
    let kurz = limited().start().await;
    register(&kurz.at("192.0.2.1"), "ada").await;
    let attacker = kurz.at("192.0.2.66");
    for _ in 0..5 {
        log_in(&attacker, "ada", SHORT).await.expect(401);
    }
    for wait in [60, 120, 240, 480, 900, 900] {
        // Trying on does not make it longer, by whatever door.
        for _ in 0..3 {
            expect_too_often(log_in(&attacker, "Ada", SHORT).await, wait);
            let body = json!({ "email": email("ada"), "password": SHORT });
            expect_too_often(attacker.post("/auth/login", &body).await, wait);
        }
        pass(&kurz, u64::from(wait) - 1);
        expect_too_often(log_in(&attacker, "ada", SHORT).await, 1);
        pass(&kurz, 1);
        log_in(&attacker, "ada", SHORT).await.expect(401);
    }
    expect_too_often(log_in(&attacker, "ada", PASSWORD).await, 900);
    // From elsewhere she signs in all the while, and in the end from there as well.
    log_in(&kurz.at("192.0.2.1"), "ada", PASSWORD).await.expect(200);
    pass(&kurz, 900);
    log_in(&attacker, "ada", PASSWORD).await.expect(200);
    // That begins anew.
    for _ in 0..5 {
        log_in(&attacker, "ada", SHORT).await.expect(401);
    }
    expect_too_often(log_in(&attacker, "ada", SHORT).await, 60);
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn an_address_has_twenty_failures_a_minute_whatever_the_account() {
    let kurz = limited().start().await;
    register(&kurz.at("192.0.2.1"), "ada").await;
    let office = kurz.at("192.0.2.66");
    // Whoever signs in is not counted.
    for _ in 0..3 {
        log_in(&office, "ada", PASSWORD).await.expect(200);
    }
    for user in 0..20 {
        log_in(&office, &format!("user{user}"), SHORT).await.expect(401);
    }
    expect_too_often(log_in(&office, "user99", SHORT).await, 3);
    expect_too_often(log_in(&office, "ada", PASSWORD).await, 3);
    log_in(&kurz.at("192.0.2.67"), "user99", SHORT).await.expect(401);
    pass(&kurz, 3);
    log_in(&office, "user99", SHORT).await.expect(401);
    expect_too_often(log_in(&office, "user98", SHORT).await, 3);
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn many_tries_at_the_same_time_are_no_more_tries() {
    let kurz = limited().start().await;
    let attacker = kurz.at("192.0.2.66");
    let tries = join_all((0..64).map(|_| log_in(&attacker, "ada", SHORT))).await;
    assert_eq!(tries.iter().filter(|answer| answer.status == 401).count(), 5);
    assert!(tries.iter().all(|answer| answer.status == 401 || answer.status == 429));
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn a_stolen_token_does_not_help_to_guess_the_password() {
    let kurz = limited().start().await;
    let thief = register(&kurz.at("192.0.2.66"), "ada").await;
    let body = json!({ "current_password": "not-the-password", "new_password": "another-one" });
    for _ in 0..5 {
        thief.patch("/api/v1/me/password", &body).await.expect_problem(403, "wrong-password");
    }
    expect_too_often(thief.patch("/api/v1/me/password", &body).await, 60);
    expect_too_often(log_in(&thief, "ada", PASSWORD).await, 60);
    kurz.stop().await;
}

// threats: C10
#[tokio::test]
async fn the_login_page_says_in_three_languages_when_to_try_again() {
    let kurz = limited().start().await;
    let words = [("en", "in 60 seconds"), ("de", "in 60 Sekunden"), ("es", "en 60 segundos")];
    for (language, text) in words {
        let browser = browser(&kurz, "192.0.2.66", language);
        let fields = [("email", "ada@example.com"), ("password", SHORT)];
        for _ in 0..5 {
            post_form(&browser, "/login", &fields).await;
        }
        let page = post_form(&browser, "/login", &fields).await.expect(429);
        assert_eq!(page.header("retry-after"), Some("60"));
        assert!(page.text().contains(text), "{}", page.text());
    }
    kurz.stop().await;
}

#[tokio::test]
async fn accounts_are_made_so_many_an_hour() {
    let kurz = limited().setting("KURZ_LIMIT_SIGNUPS", "2").start().await;
    register(&kurz.at("192.0.2.1"), "ada").await;
    // What cannot be an account does not count; that an address is taken is an answer, and does.
    let client = kurz.at("192.0.2.1");
    let bad = json!({ "email": "ada", "password": PASSWORD });
    client.post("/api/v1/auth/register", &bad).await.expect(422);
    let body = json!({ "email": email("ada"), "password": PASSWORD });
    client.post("/api/v1/auth/register", &body).await.expect(409);
    let body = json!({ "name": "Bob", "email": email("bob"), "password": PASSWORD });
    expect_too_often(client.post("/auth/register", &body).await, 1800);
    register(&kurz.at("192.0.2.2"), "bob").await;
    pass(&kurz, 1800);
    register(&kurz.at("192.0.2.1"), "eve").await;
    kurz.stop().await;
}

// threats: C11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_logins_is_refused_at_once_and_redirects_go_on() {
    let settings = [("KURZ_PASSWORD_QUEUE", "2"), ("KURZ_PASSWORD_THREADS", "1")];
    let kurz = limited().settings(&settings).start().await;
    let ada = register(&kurz.at("192.0.2.1"), "ada").await;
    let link = shorten(&ada, "https://example.com/").await.expect(201).json();
    let path = format!("/{}", link["short_code"].as_str().unwrap());
    // From as many addresses as there are tries, so that no rate is in their way.
    let tries = (0..40).map(|at| {
        let attacker = kurz.at(&format!("198.51.100.{at}"));
        async move { log_in(&attacker, "ada", "not-the-password").await }
    });
    let visits = async {
        for _ in 0..20 {
            ada.get(&path).await.expect(302);
        }
    };
    let (tries, ()) = futures_util::future::join(join_all(tries), visits).await;
    let busy: Vec<_> = tries.iter().filter(|answer| answer.status == 503).collect();
    assert!(tries.iter().all(|answer| [401, 503].contains(&answer.status)));
    assert!(!busy.is_empty(), "three at a time are compared or wait");
    for answer in busy {
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.json()["code"], "busy");
    }
    // To be told to come again is not a failed try.
    for _ in 0..2 {
        log_in(&kurz.at("198.51.100.39"), "ada", PASSWORD).await.expect(200);
    }
    kurz.stop().await;
}
