//! What visitors see of the end of a link made without an account, while cleanup runs as fast as it
//! may: 302, then 410, then 404, and nothing else in between. Whoever claims it in time sees no end.

use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_core::time::Timestamp;
use kurz_test_support::http::Http;
use kurz_test_support::{Kind, Process, TestServer, on_both_databases};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const LINKS: usize = 12;
const TTL_MS: i64 = 4_000;
const PATIENCE: Duration = Duration::from_mins(1);

on_both_databases! { a_link_goes_from_302_to_410_to_404_unless_it_is_claimed }

fn start(kind: Kind) -> Process {
    TestServer::builder()
        .accounts()
        .default_timeouts()
        .database(kind)
        .setting("KURZ_ANON_TTL", &format!("{TTL_MS}ms"))
        .setting("KURZ_CLEANUP_DELAY", "0")
        .setting("KURZ_CLEANUP_INTERVAL", "100ms")
        .setting("KURZ_CLEANUP_LOCK_AT_LEAST", "0")
        .setting("KURZ_CLEANUP_LOCK_AT_MOST", "5s")
        .setting("KURZ_PURGE_GRACE", "1s")
        .process()
        .start()
}

async fn a_link_goes_from_302_to_410_to_404_unless_it_is_claimed(kind: Kind) {
    let kurz = start(kind);
    let http = kurz.http();
    let (owner, thief) = (register(&http, "owner").await, register(&http, "thief").await);
    let mut visitors = Vec::new();
    let mut claimed = Vec::new();
    for at in 0..LINKS {
        let link = make(&http, at).await;
        if at % 3 == 0 {
            claimed.push(json!({
                "shortCode": link["shortCode"], "claimToken": link["claimToken"],
            }));
        } else {
            visitors.extend(visit(&http, &link));
        }
    }
    let sync = json!({ "urls": claimed });
    let own = owner.post("/api/urls/sync", &sync).await.expect(200).json();
    for link in own.as_array().unwrap() {
        assert_eq!((&link["linkType"], &link["expiresAt"]), (&json!("PERMANENT"), &Value::Null));
    }
    assert_eq!(own.as_array().unwrap().len(), claimed.len());
    let taken = thief.post("/api/urls/sync", &sync).await.expect(200).json();
    assert_eq!(taken, json!([]), "a token works once");

    for visitor in visitors {
        assert_eq!(visitor.await.unwrap(), [302, 410, 404]);
    }
    for link in claimed {
        let code = link["shortCode"].as_str().unwrap();
        http.get(&format!("/{code}")).await.expect(302);
    }
    let dead = "select count(*) from links where purged_at is not null and owner_id is null";
    assert_eq!(kurz.home().number(dead).await, i64::try_from(LINKS - LINKS.div_ceil(3)).unwrap());
    drop(kurz);
}

async fn register(http: &Http, name: &str) -> Http {
    let person = json!({
        "name": name, "email": format!("{name}@example.com"), "password": "correct horse battery",
    });
    let session = http.post("/auth/register", &person).await.expect(201).json();
    http.bearer(session["token"].as_str().unwrap())
}

async fn make(http: &Http, at: usize) -> Value {
    let url = json!({ "originalUrl": format!("https://example.com/{at}") });
    let link = http.post("/api/urls/public", &url).await.expect(201).json();
    assert_eq!(link["linkType"], "TEMPORARY");
    let time = |name: &str| Timestamp::parse_rfc3339(link[name].as_str().unwrap()).unwrap();
    assert_eq!(time("expiresAt").as_ms() - time("createdAt").as_ms(), TTL_MS);
    link
}

/// A visitor at each address of the link, who asks again and again.
fn visit(http: &Http, link: &Value) -> [JoinHandle<Vec<u16>>; 2] {
    let code = link["shortCode"].as_str().unwrap();
    [format!("/{code}"), format!("/w/main/{code}")].map(|path| {
        let http = http.clone();
        let visits = async move { visit_until_gone(&http, &path).await };
        tokio::runtime::Handle::current().spawn(visits)
    })
}

/// The statuses of an address in the order in which they came, until it is gone.
async fn visit_until_gone(http: &Http, path: &str) -> Vec<u16> {
    let mut seen = Vec::new();
    let watch = Stopwatch::start();
    let mut after = 0;
    // A few more visits after the 404: nothing may come back.
    while after < 20 && watch.elapsed() < PATIENCE {
        let status = http.get(path).await.status;
        if seen.last() != Some(&status) {
            seen.push(status);
        }
        after += usize::from(seen.contains(&404));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    seen
}
