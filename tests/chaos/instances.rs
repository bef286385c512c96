//! Three instances on one PostgreSQL and one Redis, with faults on a seeded schedule.

use kurz_test_support::chaos::instances::{Plan, run};

// threats: E4, E5, E6, E7, E10, E11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_instances_keep_their_word_through_faults() {
    let plan =
        Plan { seed: 3, faults: 8, lasting_ms: (500, 1500), clients: 6, skew: ["+5m", "-5m"] };
    let figures = run(plan, |line| eprintln!("{line}")).await;
    eprintln!("{figures}");
    assert!(figures.acknowledged > 100 && figures.served > 0, "no load: {figures:?}");
}
