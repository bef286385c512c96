//! Counter codes that somebody took before, custom codes by the month, and the length of codes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use kurz::clock::Clock;
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use kurz_core::code::counter::{DEFAULT_MULT, LENGTH, Scramble, Scrambler};
use kurz_test_support::http::Http;
use kurz_test_support::{Home, Kind, NOON, Program, TestServer, links, on_both_databases};
use serde_json::{Value, json};

on_both_databases!(
    counter_codes_that_are_taken_are_skipped_however_many,
    a_counter_code_that_another_workspace_has_on_the_main_host_is_skipped,
    custom_codes_in_main_are_counted_by_account_and_month,
    custom_codes_are_counted_exactly_under_parallel_requests,
    codes_have_the_length_that_is_set_and_older_ones_are_skipped,
);

const SALT: &str = "unit_test_salt";

fn predicted(numbers: std::ops::Range<u128>) -> Vec<String> {
    let scrambler = Scrambler::new(Scramble::Affine, SALT, DEFAULT_MULT, LENGTH).unwrap();
    numbers.map(|number| scrambler.code(number).to_string()).collect()
}

/// Take these codes, in one call.
async fn take(http: &Http, workspace: &str, codes: &[String]) {
    let links = codes
        .iter()
        .map(|code| json!({ "original_url": "https://evil.example/", "custom_code": code }));
    let body = json!({ "links": links.collect::<Vec<_>>() });
    let path = format!("{}/bulk", links::path(workspace));
    let answer = http.post(&path, &body).await.expect(200).json();
    let made = answer["results"].as_array().unwrap().iter();
    assert_eq!(made.filter(|result| result["status"] == 201).count(), codes.len());
}

const COUNTER: &str = "counter";

fn counter(number: usize) -> Value {
    json!({ "original_url": format!("https://example.com/{number}"), "strategy": COUNTER })
}

async fn counter_codes_that_are_taken_are_skipped_however_many(kind: Kind) {
    let server = TestServer::builder().database(kind).setting("KURZ_COUNTER_SALT", SALT);
    let server = server.start().await;
    let http = server.http();
    links::make(&http, "main", &counter(0)).await;
    take(&http, "main", &predicted(2..1002)).await;
    // All at once, so that many look for a free code at the same time.
    let made = join_all((1..40).map(async |number| {
        let body = counter(number);
        links::make(&http, "main", &body).await
    }))
    .await;
    for link in &made {
        assert_eq!(link["short_url"], format!("{}/{}", server.base_url(), links::code(link)));
    }
    let body = json!({ "links": (100..150).map(counter).collect::<Vec<_>>(), "atomic": true });
    take(&http, "main", &predicted(5_000..5_500)).await;
    let bulk = http.post(&format!("{}/bulk", links::path("main")), &body).await.expect(200).json();
    let results = bulk["results"].as_array().unwrap().iter().map(|result| &result["link"]);
    let codes: std::collections::BTreeSet<&str> =
        made.iter().chain(results).map(links::code).collect();
    assert_eq!(codes.len(), 39 + 50);
    server.stop().await;
}

async fn a_counter_code_that_another_workspace_has_on_the_main_host_is_skipped(kind: Kind) {
    let server = TestServer::builder().database(kind).setting("KURZ_COUNTER_SALT", SALT);
    let server = server.start().await;
    let http = server.http();
    take(&http, "squatter", &predicted(1..200)).await;
    for number in 0..3 {
        let link = links::make(&http, "main", &counter(number)).await;
        assert_eq!(link["short_url"], format!("{}/{}", server.base_url(), links::code(&link)));
    }
    server.stop().await;
}

fn custom(code: &str) -> Value {
    json!({ "original_url": "https://example.com/", "custom_code": code })
}

async fn custom_codes_in_main_are_counted_by_account_and_month(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts();
    let server = server.setting("KURZ_CUSTOM_CODE_LIMIT", "3").start().await;
    server.administrator("root").await;
    for name in ["ada", "eve"] {
        server.sign_up(name).await;
    }
    let (root, ada) = (server.log_in("root").await, server.log_in("ada").await);
    let eve = server.log_in("eve").await;
    let links = "/api/v1/links";
    eve.post(links, &custom("taken")).await.expect(201);
    for code in ["one", "two"] {
        ada.post(links, &custom(code)).await.expect(201);
        // The same again, a taken one and a refused one use nothing up.
        ada.post(links, &custom(code)).await.expect(200);
        ada.post(links, &custom("taken")).await.expect_problem(409, "code-taken");
        ada.post(links, &custom("api")).await.expect_problem(422, "code-reserved");
    }
    let body =
        json!({ "links": [custom("three"), custom("four"), custom("taken"), custom("two")] });
    let bulk = ada.post("/api/v1/workspaces/main/links/bulk", &body).await.expect(200).json();
    let statuses: Vec<_> = (0..4).map(|at| bulk["results"][at]["status"].as_u64()).collect();
    // Which of the two new ones is stored first is not promised.
    assert!(statuses.contains(&Some(201)) && statuses.contains(&Some(429)), "{bulk}");
    assert_eq!((statuses[2], statuses[3]), (Some(409), Some(200)), "{bulk}");
    let over = ada.post(links, &custom("five")).await;
    assert!(over.header("retry-after").is_some());
    let problem = over.expect_problem(429, "custom-code-limit");
    assert!(problem["detail"].as_str().unwrap().contains("The 3 custom codes"), "{problem}");
    let atomic = json!({ "links": [custom("five")], "atomic": true });
    ada.post("/api/v1/workspaces/main/links/bulk", &atomic)
        .await
        .expect_problem(422, "bulk-refused");
    // Other codes, other workspaces, other accounts and administrators go on.
    ada.post(links, &json!({ "original_url": "https://example.com/" })).await.expect(201);
    ada.post("/api/v1/workspaces", &json!({ "id": "team" })).await.expect(201);
    for code in ["five", "six", "seven", "eight"] {
        ada.post("/api/v1/workspaces/team/links", &custom(code)).await.expect(201);
        root.post(links, &custom(&format!("root-{code}"))).await.expect(201);
    }
    eve.post(links, &custom("nine")).await.expect(201);
    // A deleted link of one's own comes back without a new code.
    ada.delete("/api/v1/workspaces/main/links/one").await.expect(200);
    ada.post(links, &custom("one")).await.expect(201);
    server.advance(Duration::from_hours(24 * 17));
    let ada = server.log_in("ada").await;
    ada.post(links, &custom("april")).await.expect(201);
    server.stop().await;
}

async fn custom_codes_are_counted_exactly_under_parallel_requests(kind: Kind) {
    let server = TestServer::builder().database(kind).accounts();
    let server = server.setting("KURZ_CUSTOM_CODE_LIMIT", "25").start().await;
    server.sign_up("ada").await;
    let ada = server.log_in("ada").await;
    let one = |number: usize| {
        let (ada, body) = (ada.clone(), custom(&format!("one-{number}")));
        async move { vec![u64::from(ada.post("/api/v1/links", &body).await.status)] }
    };
    let bulk = |number: usize| {
        let ada = ada.clone();
        let codes = (0..3).map(|at| custom(&format!("bulk-{number}-{at}"))).collect::<Vec<_>>();
        async move {
            let path = "/api/v1/workspaces/main/links/bulk";
            let answer = ada.post(path, &json!({ "links": codes })).await.expect(200).json();
            let results = answer["results"].as_array().unwrap();
            results.iter().map(|result| result["status"].as_u64().unwrap()).collect::<Vec<_>>()
        }
    };
    let (ones, bulks) = tokio::join!(join_all((0..20).map(one)), join_all((0..10).map(bulk)));
    let statuses: Vec<u64> = ones.into_iter().chain(bulks).flatten().collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 25);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 25);
    assert_eq!(links::all(&ada, "main").await.len(), 25);
    server.stop().await;
}

async fn codes_have_the_length_that_is_set_and_older_ones_are_skipped(kind: Kind) {
    let home = Arc::new(Home::new(kind));
    for (scramble, length) in [("affine", 7), ("feistel", 7), ("feistel", 20), ("affine", 12)] {
        let settings = [
            ("KURZ_COUNTER_SALT", SALT),
            ("KURZ_COUNTER_SCRAMBLE", scramble),
            ("KURZ_CODE_LENGTH", &length.to_string()),
        ];
        let config = TestServer::builder().settings(&settings).config(&home);
        let clock = Clock::manual(NOON);
        let server = RunningServer::start(&config, clock, Entropy::os()).await.unwrap();
        let http = Http::new(&format!("http://{}", server.address()));
        for strategy in [COUNTER, "random"] {
            let body = json!({ "original_url": "https://example.com/", "strategy": strategy });
            for _ in 0..20 {
                let link = links::make(&http, "main", &body).await;
                assert_eq!(links::code(&link).len(), length, "{scramble}");
            }
        }
        server.shutdown().await.unwrap();
    }
    let count = home.number("select count(*) from links").await;
    assert_eq!(count, 4 * 40);
}

// threats: B9
#[tokio::test]
async fn offensive_codes_use_up_no_attempts() {
    // The random bytes spell a word that nobody wants twenty times, and then something else.
    let drawn = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&drawn);
    let os = Entropy::os();
    let entropy = Entropy::from_fn(move |bytes| {
        if bytes.len() == 16 && counted.fetch_add(1, Ordering::Relaxed) < 20 {
            // f, u, c, k and then a, a, a.
            let spelt = [5, 20, 2, 10, 0, 0, 0];
            bytes.fill(0);
            bytes.iter_mut().zip(spelt).for_each(|(byte, letter)| *byte = letter);
        } else {
            os.fill(bytes);
        }
    });
    let home = Home::new(Kind::Sqlite);
    let config = TestServer::builder().setting("KURZ_COUNTER_SALT", SALT).config(&home);
    let server = RunningServer::start(&config, Clock::manual(NOON), entropy).await.unwrap();
    let http = Http::new(&format!("http://{}", server.address()));
    drawn.store(0, Ordering::Relaxed);
    let body = json!({ "original_url": "https://example.com/", "strategy": "random" });
    let link = links::make(&http, "main", &body).await;
    assert_ne!(links::code(&link), "fuckaaa");
    assert!(drawn.load(Ordering::Relaxed) > 20, "the words were drawn");
    server.shutdown().await.unwrap();
}

#[test]
fn a_salt_from_an_example_is_refused_and_another_salt_is_warned_about_once() {
    const WARNING: &str = "the counter salt is not the one of the last start";
    let program = TestServer::builder().process();
    let start = |salt: Option<&str>| -> String {
        let program: Program = match salt {
            Some(salt) => program.clone().env("KURZ_COUNTER_SALT", salt),
            None => program.clone(),
        };
        program.start().terminate().1
    };
    let refused = program.clone().env("KURZ_COUNTER_SALT", "My_Secret").try_start();
    let Err((_, said)) = refused else { panic!("it started") };
    assert!(
        said.contains("KURZ_COUNTER_SALT") && said.contains("not one from an example"),
        "{said}"
    );
    assert!(!said.to_lowercase().contains("my_secret"), "{said}");
    let warned = [None, None, Some("first"), Some("first"), Some("second"), None, None]
        .map(|salt| start(salt).matches(WARNING).count());
    assert_eq!(warned, [0, 0, 1, 0, 1, 1, 0]);
}
