//! A backup that is made under load, and restored as its help says.

use kurz_test_support::chaos::backup::run;

// threats: F7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_made_under_load_is_whole_and_restores_to_itself() {
    let folder = tempfile::tempdir().unwrap();
    let figures = run(1, folder.path(), 8).await;
    eprintln!("{figures}");
    assert!(figures.compared > 20, "{figures:?}");
}
