//! Many checks at a time: how many of them are under way at a host, and in all.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep, timeout};

use super::world::{Answer, FINE, World, ip, moved};
use crate::egress::{Checker, Health};

const AT_ONCE: usize = 4;
const SECOND: Duration = Duration::from_secs(1);

/// How many are being served: now, and at most so far.
#[derive(Default)]
struct Crowd {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A world with `hosts` addresses behind `h0.example` and so on, each of which takes its time.
fn slow_world(hosts: usize, each: Duration) -> (Arc<World>, Arc<Crowd>) {
    let crowd = Arc::new(Crowd::default());
    let mut world = World::default();
    for host in 0..hosts {
        let address = ip(&format!("8.8.8.{}", host + 1));
        let crowd = Arc::clone(&crowd);
        world = world.name(&format!("h{host}.example"), Answer::Addresses(vec![vec![address]]));
        let server = move |world: Arc<World>, mut stream: tokio::io::DuplexStream| {
            let crowd = Arc::clone(&crowd);
            let serving: futures_util::future::BoxFuture<'static, ()> = Box::pin(async move {
                let request = world.receive(&mut stream).await;
                let now = crowd.now.fetch_add(1, SeqCst) + 1;
                crowd.most.fetch_max(now, SeqCst);
                sleep(each).await;
                crowd.now.fetch_sub(1, SeqCst);
                let away = request.contains("/away");
                let answer = if away { moved("http://h0.example/") } else { FINE.to_owned() };
                let _ = stream.write_all(answer.as_bytes()).await;
            });
            serving
        };
        world.servers.insert(address, Arc::new(server));
    }
    (Arc::new(world), crowd)
}

fn checker(world: &Arc<World>) -> Checker<Arc<World>> {
    Checker::new(Arc::clone(world), NonZeroUsize::new(AT_ONCE).unwrap())
}

async fn check_all(checker: &Checker<Arc<World>>, urls: &[String]) -> Vec<Health> {
    join_all(urls.iter().map(|url| checker.check(url))).await
}

// threats: H7
#[tokio::test(start_paused = true)]
async fn one_host_is_asked_one_thing_at_a_time_however_long_that_takes() {
    let (world, crowd) = slow_world(1, SECOND);
    let urls = (0..20).map(|path| format!("http://h0.example/{path}")).collect::<Vec<_>>();
    assert_eq!(check_all(&checker(&world), &urls).await, [Health::Ok; 20]);
    assert_eq!(crowd.most.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn many_names_of_one_address_are_one_host() {
    let (world, crowd) = slow_world(1, SECOND);
    let mut world = Arc::into_inner(world).unwrap();
    for name in ["a.example", "b.example", "c.example"] {
        world = world.name(name, Answer::Alias("h0.example".to_owned()));
    }
    let world = Arc::new(world);
    let urls = ["a", "b", "c"].map(|name| format!("http://{name}.example/"));
    assert_eq!(check_all(&checker(&world), &urls).await, [Health::Ok; 3]);
    let literal = ["http://8.8.8.1/".to_owned(), "http://a.example/".to_owned()];
    assert_eq!(check_all(&checker(&world), &literal).await, [Health::Ok; 2]);
    assert_eq!(crowd.most.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn many_addresses_of_one_name_are_one_host() {
    let each = Duration::from_millis(700);
    let turns = ["8.8.8.1", "8.8.8.5", "8.8.8.6"].map(|address| vec![ip(address)]).to_vec();
    for path in ["http://h0.example/", "/away"] {
        let (world, _) = slow_world(6, each);
        let world = Arc::into_inner(world).unwrap();
        let world = Arc::new(world.name("h0.example", Answer::Addresses(turns.clone())));
        let urls = [1, 2, 3].map(|host| match path {
            "/away" => format!("http://h{host}.example/away"),
            _ => format!("{path}{host}"),
        });
        let started = Instant::now();
        assert_eq!(check_all(&checker(&world), &urls).await, [Health::Ok; 3], "{path}");
        let hops = if path == "/away" { 4 } else { 3 };
        assert!(started.elapsed() >= each * hops, "{path}: {:?}", started.elapsed());
        assert!(world.dialled().contains(&"8.8.8.6:80".to_owned()), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn few_hosts_are_asked_at_a_time_and_a_busy_one_holds_up_no_other() {
    let (world, crowd) = slow_world(40, SECOND);
    let busy = (0..40).map(|path| format!("http://h0.example/{path}"));
    let others = (1..40).map(|host| format!("http://h{host}.example/"));
    let urls = busy.chain(others).collect::<Vec<_>>();
    let started = Instant::now();
    assert!(check_all(&checker(&world), &urls).await.iter().all(|health| *health == Health::Ok));
    assert_eq!(crowd.most.load(SeqCst), AT_ONCE);
    // One after the other at the busy host, and the others beside it.
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn redirects_of_many_hosts_cannot_gather_at_one() {
    let each = Duration::from_millis(700);
    let (world, _) = slow_world(9, each);
    let checker = Checker::new(Arc::clone(&world), NonZeroUsize::new(8).unwrap());
    let urls = (1..9).map(|host| format!("http://h{host}.example/away")).collect::<Vec<_>>();
    let started = Instant::now();
    let healths = check_all(&checker, &urls).await;
    // All leave at a time, one arrives after the other, and host is not let in by the third second
    // has nothing to say.
    let count = |health| healths.iter().filter(|found| **found == health).count();
    assert_eq!((count(Health::Ok), count(Health::Unknown)), (4, 4), "{healths:?}");
    assert!(started.elapsed() >= each * 5, "{:?}", started.elapsed());
    let asked = world.asked();
    assert_eq!(asked.iter().filter(|asked| asked.contains("h0.example")).count(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_check_that_is_dropped_gives_back_its_turn() {
    let (world, _) = slow_world(1, SECOND);
    let checker = checker(&world);
    let moment = Duration::from_millis(10);
    for _ in 0..2 * AT_ONCE {
        assert!(timeout(moment, checker.check("http://h0.example/")).await.is_err());
    }
    assert_eq!(checker.check("http://h0.example/").await, Health::Ok);
}

#[tokio::test]
async fn a_check_can_be_a_task_of_its_own() {
    fn is_task(_: impl Future<Output = Health> + Send + 'static) {}
    let checker = Checker::of_the_internet(NonZeroUsize::MIN);
    let other = checker.clone();
    is_task(async move { other.check("https://a.example/").await });
    // Nothing goes out for this one.
    assert_eq!(checker.check("http://127.0.0.1/").await, Health::Blocked);
}
