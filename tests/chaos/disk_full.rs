//! The disk that holds the store is full.

use std::time::Duration;

use kurz_test_support::chaos::disk_full::run;

// threats: F3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_links_and_heals_by_itself() {
    let figures = run(1, 3, Duration::from_millis(1500)).await;
    eprintln!("{figures}");
    assert!(figures.refused > 0 && figures.redirects > 0, "{figures:?}");
}
