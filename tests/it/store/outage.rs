//! PostgreSQL goes away and comes back: what is in memory goes on, nothing is called unknown that may
//! exist, and nothing is lost.

use kurz_test_support::postgres::connect;
use kurz_test_support::{Kind, TestServer, links};
use serde_json::json;

/// Let nobody into the database of `store`, and send those away who are in; or let them in again.
pub(crate) async fn set_open(store: &str, open: bool) {
    let mut url = url::Url::parse(store).unwrap();
    let name = url.path().trim_start_matches('/').to_owned();
    url.set_path("postgres");
    let client = connect(url.as_str()).await;
    let allow = format!("alter database {name} with allow_connections {open}");
    client.batch_execute(&allow).await.unwrap();
    let dismiss = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
    client.execute(dismiss, &[&name]).await.unwrap();
}

// threats: E10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_in_memory_redirect_and_others_answer_503_while_postgres_is_away() {
    let kurz = TestServer::builder().database(Kind::Postgres).start().await;
    let http = kurz.http();
    let make = async |code: &str| {
        let body = json!({ "original_url": "https://example.com/", "custom_code": code });
        links::make(&http, "team", &body).await
    };
    let (known, unknown) = (make("known").await, make("unknown").await);
    http.get("/known").await.expect(302);
    links::counted(&http, &known, 1).await;

    set_open(&kurz.home.store(), false).await;
    for _ in 0..3 {
        http.get("/known").await.expect(302);
        for path in ["/unknown", "/w/team/unknown", "/never-made"] {
            let answer = http.get(path).await;
            assert!(answer.header("retry-after").is_some(), "{path}");
            answer.expect_problem(503, "store-unavailable");
        }
    }
    http.get(&links::path_of(&known)).await.expect_problem(503, "store-unavailable");
    let body = json!({ "original_url": "https://example.com/2" });
    http.post(&links::path("team"), &body).await.expect_problem(503, "store-unavailable");
    http.get("/healthz").await.expect(200);
    assert_eq!(http.get("/readyz").await.expect(503).json()["ready"], false);

    set_open(&kurz.home.store(), true).await;
    http.get("/readyz").await.expect(200);
    http.get("/unknown").await.expect(302);
    http.get("/never-made").await.expect(404);
    links::make(&http, "team", &body).await;
    // What was counted meanwhile is written now.
    links::counted(&http, &known, 4).await;
    links::counted(&http, &unknown, 1).await;
    kurz.stop().await;
}
