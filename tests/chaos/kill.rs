//! `kill -9` at random moments under load.

use kurz_test_support::chaos::kill::{Plan, run};

// threats: F1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_lose_no_acknowledged_operation() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { seed: 1, kills: 20, after_ms: (50, 600) };
    let figures = run(plan, folder.path(), |_, _| ()).await;
    eprintln!("{figures}");
    assert!(figures.acknowledged > 20 * 20 && figures.unknown > 0, "no load: {figures:?}");
    assert!(figures.observed >= figures.restarts.len().try_into().unwrap(), "nobody looked");
}
