//! Many checks at a time: how many run at one host, and in total.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep, timeout};

use super::fake_network::{Answer, FINE, FakeNetwork, ip, moved};
use crate::egress::check::{Checker, Health};

const MAX_CHECKS: usize = 4;
const SECOND: Duration = Duration::from_secs(1);

/// Requests in progress: now, and the maximum so far.
#[derive(Default)]
struct InFlight {
    now: AtomicUsize,
    max: AtomicUsize,
}

/// A network with `hosts` addresses behind `h0.example` and so on, each of which takes `each` to answer.
fn slow_network(hosts: usize, each: Duration) -> (Arc<FakeNetwork>, Arc<InFlight>) {
    let in_flight = Arc::new(InFlight::default());
    let mut network = FakeNetwork::default();
    for host in 0..hosts {
        let address = ip(&format!("8.8.8.{}", host + 1));
        let in_flight = Arc::clone(&in_flight);
        network = network.name(&format!("h{host}.example"), Answer::Addresses(vec![vec![address]]));
        let server = move |network: Arc<FakeNetwork>, mut stream: tokio::io::DuplexStream| {
            let in_flight = Arc::clone(&in_flight);
            let serving: futures_util::future::BoxFuture<'static, ()> = Box::pin(async move {
                let request = network.receive(&mut stream).await;
                let now = in_flight.now.fetch_add(1, SeqCst) + 1;
                in_flight.max.fetch_max(now, SeqCst);
                sleep(each).await;
                in_flight.now.fetch_sub(1, SeqCst);
                let away = request.contains("/away");
                let answer = if away { moved("http://h0.example/") } else { FINE.to_owned() };
                let _ = stream.write_all(answer.as_bytes()).await;
            });
            serving
        };
        network.servers.insert(address, Arc::new(server));
    }
    (Arc::new(network), in_flight)
}

fn checker(network: &Arc<FakeNetwork>) -> Checker<Arc<FakeNetwork>> {
    Checker::new(Arc::clone(network), NonZeroUsize::new(MAX_CHECKS).unwrap())
}

async fn check_all(checker: &Checker<Arc<FakeNetwork>>, urls: &[String]) -> Vec<Health> {
    join_all(urls.iter().map(|url| checker.check(url))).await
}

// threats: H7
#[tokio::test(start_paused = true)]
async fn one_host_is_asked_one_thing_at_a_time_however_long_that_takes() {
    let (network, in_flight) = slow_network(1, SECOND);
    let urls = (0..20).map(|path| format!("http://h0.example/{path}")).collect::<Vec<_>>();
    assert_eq!(check_all(&checker(&network), &urls).await, [Health::Ok; 20]);
    assert_eq!(in_flight.max.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn many_names_of_one_address_are_one_host() {
    let (network, in_flight) = slow_network(1, SECOND);
    let mut network = Arc::into_inner(network).unwrap();
    for name in ["a.example", "b.example", "c.example"] {
        network = network.name(name, Answer::Alias("h0.example".to_owned()));
    }
    let network = Arc::new(network);
    let urls = ["a", "b", "c"].map(|name| format!("http://{name}.example/"));
    assert_eq!(check_all(&checker(&network), &urls).await, [Health::Ok; 3]);
    let literal = ["http://8.8.8.1/".to_owned(), "http://a.example/".to_owned()];
    assert_eq!(check_all(&checker(&network), &literal).await, [Health::Ok; 2]);
    assert_eq!(in_flight.max.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn many_addresses_of_one_name_are_one_host() {
    let each = Duration::from_millis(700);
    let turns = ["8.8.8.1", "8.8.8.5", "8.8.8.6"].map(|address| vec![ip(address)]).to_vec();
    for path in ["http://h0.example/", "/away"] {
        let (network, _) = slow_network(6, each);
        let network = Arc::into_inner(network).unwrap();
        let network = Arc::new(network.name("h0.example", Answer::Addresses(turns.clone())));
        let urls = [1, 2, 3].map(|host| match path {
            "/away" => format!("http://h{host}.example/away"),
            _ => format!("{path}{host}"),
        });
        let started = Instant::now();
        assert_eq!(check_all(&checker(&network), &urls).await, [Health::Ok; 3], "{path}");
        let hops = if path == "/away" { 4 } else { 3 };
        assert!(started.elapsed() >= each * hops, "{path}: {:?}", started.elapsed());
        assert!(network.connected().contains(&"8.8.8.6:80".to_owned()), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_total_is_limited_and_a_busy_host_does_not_delay_others() {
    let (network, in_flight) = slow_network(40, SECOND);
    let busy = (0..40).map(|path| format!("http://h0.example/{path}"));
    let others = (1..40).map(|host| format!("http://h{host}.example/"));
    let urls = busy.chain(others).collect::<Vec<_>>();
    let started = Instant::now();
    assert!(check_all(&checker(&network), &urls).await.iter().all(|health| *health == Health::Ok));
    assert_eq!(in_flight.max.load(SeqCst), MAX_CHECKS);
    // Sequential at the busy host, and concurrently at the others.
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn redirects_from_many_hosts_to_one_are_limited_too() {
    let each = Duration::from_millis(700);
    let (network, _) = slow_network(9, each);
    let checker = Checker::new(Arc::clone(&network), NonZeroUsize::new(8).unwrap());
    let urls = (1..9).map(|host| format!("http://h{host}.example/away")).collect::<Vec<_>>();
    let started = Instant::now();
    let healths = check_all(&checker, &urls).await;
    // All are redirected at the same time and admitted one after the other; those that are not admitted
    // by the third second are unknown.
    let count = |health| healths.iter().filter(|found| **found == health).count();
    assert_eq!((count(Health::Ok), count(Health::Unknown)), (4, 4), "{healths:?}");
    assert!(started.elapsed() >= each * 5, "{:?}", started.elapsed());
    let asked = network.requested();
    assert_eq!(asked.iter().filter(|asked| asked.contains("h0.example")).count(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_check_releases_its_permits() {
    let (network, _) = slow_network(1, SECOND);
    let checker = checker(&network);
    let moment = Duration::from_millis(10);
    for _ in 0..2 * MAX_CHECKS {
        assert!(timeout(moment, checker.check("http://h0.example/")).await.is_err());
    }
    assert_eq!(checker.check("http://h0.example/").await, Health::Ok);
}

#[tokio::test]
async fn a_check_can_be_spawned() {
    fn can_be_spawned(_: impl Future<Output = Health> + Send + 'static) {}
    let checker = Checker::with_system_transport(NonZeroUsize::MIN);
    let other = checker.clone();
    can_be_spawned(async move { other.check("https://a.example/").await });
    // Blocked before any connection.
    assert_eq!(checker.check("http://127.0.0.1/").await, Health::Blocked);
}
