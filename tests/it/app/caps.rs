//! Caps while another instance adds one more and has not committed yet: PostgreSQL, two connections.

use kurz_test_support::http::{Answer, Http};
use kurz_test_support::postgres::connect;
use kurz_test_support::{Kind, TestServer};
use serde_json::{Value, json};

/// How many connections of the database wait for a lock.
const WAITING: &str = "select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'";

/// Ask while a transaction of another instance with these statements is open, which is committed as soon as
/// the request waits for it.
async fn ask_during(
    server: &TestServer,
    other: &str,
    http: &Http,
    path: &str,
    body: &Value,
) -> Answer {
    let instance = connect(&server.home.store()).await;
    instance.batch_execute(&format!("begin; {other}")).await.unwrap();
    let commit = async {
        while server.home.number(WAITING).await == 0 {
            tokio::task::yield_now().await;
        }
        instance.batch_execute("commit").await.unwrap();
        std::future::pending::<Answer>().await
    };
    tokio::select! {
        answer = http.post(path, body) => answer,
        answer = commit => answer,
    }
}

#[tokio::test]
async fn a_cap_counts_what_another_instance_adds_at_the_same_time() {
    let settings = [("KURZ_WORKSPACE_LIMIT", "2"), ("KURZ_CUSTOM_CODE_LIMIT", "2")];
    let server = TestServer::builder().database(Kind::Postgres).accounts().settings(&settings);
    let server = server.start().await;
    server.sign_up("eve").await;
    let eve = server.log_in("eve").await;
    eve.post("/api/v1/workspaces", &json!({ "id": "eve" })).await.expect(201);

    let hosts = "insert into pending_hosts (workspace, host, token, created_at)
        select 'eve', 'h' || n || '.internal', 't', 1 from generate_series(1, 99) n";
    server.execute(hosts).await;
    let other = "update workspaces set updated_at = updated_at where id = 'eve';
        insert into hosts (host, workspace, created_at) values ('last.internal', 'eve', 1)";
    let (path, body) = ("/api/v1/workspaces/eve/hosts", json!({ "host": "more.internal" }));
    let answer = ask_during(&server, other, &eve, path, &body).await;
    answer.expect_problem(422, "hosts-too-many");

    let other = "update users set updated_at = updated_at;
        insert into workspaces (id, strategy, created_at, updated_at, created_by)
        select 'other', 'random', 1, 1, id from users";
    let (path, body) = ("/api/v1/workspaces", json!({ "id": "more" }));
    let answer = ask_during(&server, other, &eve, path, &body).await;
    answer.expect_problem(403, "workspaces-too-many");

    let link = |code: &str| json!({ "original_url": "https://example.com/", "custom_code": code });
    eve.post("/api/v1/links", &link("one")).await.expect(201);
    let other = "update user_months set custom_codes = custom_codes + 1";
    let answer = ask_during(&server, other, &eve, "/api/v1/links", &link("two")).await;
    answer.expect_problem(429, "custom-code-limit");
    server.stop().await;
}
