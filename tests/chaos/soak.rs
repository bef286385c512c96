//! A steady load among many idle connections: nothing fails, and nothing grows.

use std::time::Duration;

use kurz_test_support::chaos::soak::{Plan, run};

// threats: F9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_that_rests_and_a_steady_load_fail_nothing_and_leave_nothing() {
    let plan = Plan {
        seed: 1,
        active: 32,
        resting: 256,
        every: Duration::from_millis(50),
        filling: 100,
        warm_up: Duration::from_secs(2),
        span: Duration::from_secs(6),
        sample: Duration::from_secs(1),
    };
    let figures = run(plan, |_, _| ()).await;
    eprintln!("{figures}");
    assert_eq!(figures.errors, [""; 0]);
    assert_eq!(figures.resting_at_end, 256);
    let descriptors: Vec<usize> = figures.samples.iter().map(|one| one.descriptors).collect();
    let (least, most) = (descriptors.iter().min().unwrap(), descriptors.iter().max().unwrap());
    assert!(most - least < 16, "{descriptors:?}");
}
