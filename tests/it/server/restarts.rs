//! Instances are replaced one after the other while visitors follow links: nobody notices, and every
//! redirect is counted.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{join, join_all};
use kurz_test_support::instances::shown;
use kurz_test_support::servers::Redis;
use kurz_test_support::visitor::Visitor;
use kurz_test_support::{TestServer, links};

const ROUNDS: usize = 10;
const VISITORS: usize = 12;

/// Follow `path` until `stop`; how often. A connection that is closed before it answers is a reason
/// to try the next instance, as every proxy does; anything but a redirect is a failure.
async fn follow(
    number: usize,
    addresses: Arc<Mutex<Vec<String>>>,
    path: String,
    stop: Arc<AtomicBool>,
) -> (u64, Vec<String>) {
    let (mut served, mut failures) = (0, Vec::new());
    let mut at = number;
    let mut visitor = Visitor::new(&addresses.lock().unwrap()[at % 3]);
    while !stop.load(Ordering::Acquire) {
        let mut answer = visitor.get(&path).await;
        for _ in 0..3 {
            if answer.is_ok() {
                break;
            }
            at += 1;
            let next = addresses.lock().unwrap()[at % 3].clone();
            visitor.go_to(&next);
            answer = visitor.get(&path).await;
        }
        match answer {
            Ok(302) => served += 1,
            other => failures.push(format!("{other:?}")),
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    (served, failures)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_are_replaced_under_load_and_no_request_fails_and_no_click_is_lost() {
    let redis = Redis::start();
    let mut instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let paths = [instances.limited(0).await, instances.limited(10_000_000).await];
    let addresses = Arc::new(Mutex::new(instances.addresses()));
    let stop = Arc::new(AtomicBool::new(false));
    let visitors = join_all((0..VISITORS).map(|number| {
        let (addresses, stop) = (Arc::clone(&addresses), Arc::clone(&stop));
        tokio::runtime::Handle::current().spawn(follow(
            number,
            addresses,
            paths[number % 2].clone(),
            stop,
        ))
    }));
    let replacing = async {
        for round in 0..3 * ROUNDS {
            // The blocking waits for processes must not hold up the visitors.
            tokio::task::block_in_place(|| {
                instances.terminate(round % 3);
                instances.start_one(round % 3);
            });
            addresses.lock().unwrap()[round % 3] = instances.address(round % 3);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        stop.store(true, Ordering::Release);
    };
    let (followed, ()) = join(visitors, replacing).await;
    let mut served = [0, 0];
    for (number, one) in followed.into_iter().enumerate() {
        let (count, failures) = one.unwrap();
        assert!(failures.is_empty(), "{failures:?}");
        served[number % 2] += count;
    }
    assert!(served.iter().all(|served| *served > 1000), "{served:?}");
    eprintln!("{served:?} redirects over {} replacements", 3 * ROUNDS);
    for (path, served) in paths.iter().zip(served) {
        let link = shown(&instances.http(0), path).await;
        links::counted(&instances.http(0), &link, i64::try_from(served).unwrap()).await;
    }
}
