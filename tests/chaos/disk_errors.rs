//! The disk refuses to sync what was written. Nothing is acknowledged then, the server says
//! that it is not ready, redirects go on, and when the disk obeys again so does everything else.
//!
//! strace stands between the server and the kernel, and lets its calls fail.

use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures_util::future::{join, join_all};
use kurz::clock::Stopwatch;
use kurz_test_support::chaos::creators::{Creator, Notes, look};
use kurz_test_support::chaos::kill::{expect_whole, program};
use kurz_test_support::http::Http;
use kurz_test_support::rng::Rng;
use serde_json::json;
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::fsync::Strace;

const PATIENCE: Duration = Duration::from_secs(30);
const SYNCS: &str = "trace=fsync,fdatasync";

/// Ask until the status is this one.
async fn until(http: &Http, status: u16, ask: impl AsyncFn(&Http) -> u16) {
    let watch = Stopwatch::start();
    while ask(http).await != status {
        assert!(watch.elapsed() < PATIENCE, "it never answers {status}");
        sleep(Duration::from_millis(10)).await;
    }
}

async fn make(http: &Http) -> u16 {
    let body = json!({ "original_url": "https://example.com/", "strategy": "random" });
    let answer = http.post("/api/v1/workspaces/red/links", &body).await;
    if answer.status == 503 {
        assert_eq!(answer.json()["code"], "store-unavailable");
    }
    answer.status
}

/// Every sync fails.
async fn refuse_all(http: &Http, process: &kurz_test_support::process::Process, log: &Path) {
    let strace = Strace::attach(process, &[SYNCS, "inject=fsync,fdatasync:error=EIO"], log);
    until(http, 503, make).await;
    until(http, 503, async |http| http.get("/readyz").await.status).await;
    assert_eq!(make(http).await, 503);
    for path in ["/w/red/hot", "/w/red/cold"] {
        http.get(path).await.expect(302);
    }
    http.get("/healthz").await.expect(200);
    block_in_place(|| strace.detach());
    until(http, 200, async |http| http.get("/readyz").await.status).await;
    assert_eq!(make(http).await, 201);
}

// threats: F4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_that_the_disk_refused_to_keep() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path()).env("KURZ_LOG", "off");
    let server = block_in_place(|| program.start());
    let http = server.http();
    for code in ["hot", "cold"] {
        let body = json!({ "original_url": "https://example.com/", "custom_code": code });
        http.post("/api/v1/workspaces/red/links", &body).await.expect(201);
    }
    http.get("/w/red/hot").await.expect(302);
    let log = folder.path().join("strace");
    refuse_all(&http, &server, &log).await;

    // One sync in seven fails, under load; then the server is killed.
    let (notes, rng) = (Notes::default(), Rng::new(1));
    notes.fault.store(true, SeqCst);
    let strace =
        Strace::attach(&server, &[SYNCS, "inject=fsync,fdatasync:error=EIO:when=3+7"], &log);
    let clients = (0..8).map(|client| {
        let name = format!("c{client}");
        Creator::new(&notes, vec![http.clone()], rng.fork(client), name).until_stopped()
    });
    let end = async {
        let watch = Stopwatch::start();
        let failed = || notes.write(|history| history.answers.get(&503).copied().unwrap_or(0));
        while failed() < 50 {
            assert!(watch.elapsed() < PATIENCE, "nothing fails");
            sleep(Duration::from_millis(10)).await;
        }
        notes.stop.store(true, SeqCst);
    };
    join(join_all(clients), end).await;
    block_in_place(|| strace.detach());
    block_in_place(|| server.kill_9());
    let server = block_in_place(|| program.start());
    let http = server.http();
    look(&http, &notes, &notes.write(|history| history.keys()), 8).await;
    block_in_place(|| server.kill_9());
    notes.write(|history| {
        history.expect_sound("eio", 1);
        assert!(history.acknowledged > 50, "no load");
    });
    block_in_place(|| expect_whole(&folder.path().join("kurz.db")));
}
