//! Three instances on PostgreSQL and a Redis of their own, which is killed, paused and emptied under visits to many
//! links: the shares of 302, 429 and 503 by the second, and how long visitors waited.
//!
//! ```text
//! ./scripts/with-servers cargo bench --bench outage [-- --links N] [--rate N] [--seconds N]
//! ```
//!
//! Links have the default limit of 10,000 and are followed by Zipf's law: few of them often, most of them once in many
//! minutes. `--seconds` is the length of the outage, 60 unless told.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    clippy::disallowed_methods,
    clippy::unchecked_time_subtraction,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::instances::Instances;
use kurz_test_support::rng::Rng;
use kurz_test_support::servers::Redis;
use kurz_test_support::visitor::{Visitor, follow};
use kurz_test_support::{TestServer, links};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, sleep, sleep_until};

/// Connections to each instance.
const CONNECTIONS: usize = 8;

/// One visit: when it began, what was answered, and how long that took.
#[derive(Clone, Copy)]
struct Visit {
    at: Duration,
    status: u16,
    taken: Duration,
}

/// The visitors of all instances.
struct Visitors {
    lanes: Vec<mpsc::Sender<String>>,
    visits: Arc<Mutex<Vec<Visit>>>,
    watch: Stopwatch,
}

impl Visitors {
    fn start(addresses: &[String]) -> Self {
        let (visits, watch) = (Arc::<Mutex<Vec<Visit>>>::default(), Stopwatch::start());
        let mut lanes = Vec::new();
        for address in addresses.iter().flat_map(|address| [address; CONNECTIONS]) {
            let (lane, mut paths) = mpsc::channel::<String>(1_000);
            let (visits, mut visitor) = (Arc::clone(&visits), Visitor::new(address));
            lanes.push(lane);
            tokio::spawn(async move {
                while let Some(path) = paths.recv().await {
                    let at = watch.elapsed();
                    let status = visitor.get(&path).await.unwrap_or(0);
                    let taken = watch.elapsed().saturating_sub(at);
                    visits.lock().await.push(Visit { at, status, taken });
                }
            });
        }
        Self { lanes, visits, watch }
    }

    /// Follow links for `span`, `rate` a second.
    async fn stroll(&self, paths: &[String], weights: &[f64], rate: u64, span: Duration) {
        let mut rng = Rng::new(u64::try_from(self.watch.elapsed().as_nanos()).unwrap_or(1));
        let (start, step) = (Instant::now(), Duration::from_secs(1) / u32::try_from(rate).unwrap());
        let mut next = start;
        while next < start + span {
            sleep_until(next).await;
            next += step;
            let drawn = (rng.below(1 << 40) as f64) / (1_u64 << 40) as f64;
            let link = weights.partition_point(|weight| *weight < drawn).min(paths.len() - 1);
            let lane = rng.index(self.lanes.len());
            let _ = self.lanes[lane].try_send(paths[link].clone());
        }
    }

    async fn since(&self, from: Duration) -> Vec<Visit> {
        let visits = self.visits.lock().await;
        visits.iter().filter(|visit| visit.at >= from).copied().collect()
    }
}

/// The cumulated shares of links by Zipf's law.
fn zipf(links: usize) -> Vec<f64> {
    let total: f64 = (1..=links).map(|rank| 1.0 / rank as f64).sum();
    let mut sum = 0.0;
    (1..=links)
        .map(|rank| {
            sum += 1.0 / rank as f64 / total;
            sum
        })
        .collect()
}

async fn make(instances: &Instances, count: usize) -> Vec<String> {
    let mut paths = Vec::new();
    while paths.len() < count {
        let some = (count - paths.len()).min(500);
        let batch: Vec<Value> = (0..some)
            .map(|number| json!({ "original_url": format!("https://example.com/{number}"), "strategy": "random" }))
            .collect();
        let body = json!({ "links": batch });
        let http = instances.http(0);
        let answer = http.post("/api/v1/workspaces/main/links/bulk", &body).await;
        let answer = answer.expect(200).json();
        let made = answer["results"].as_array().unwrap();
        paths.extend(made.iter().map(|one| links::short_path(&one["link"])));
    }
    paths
}

fn say(name: &str, visits: &[Visit]) {
    let share = |status: u16| {
        let some = visits.iter().filter(|visit| visit.status == status).count();
        some as f64 * 100.0 / visits.len().max(1) as f64
    };
    let mut taken: Vec<Duration> = visits.iter().map(|visit| visit.taken).collect();
    taken.sort();
    let quantile = |of: usize| taken.get(taken.len() * of / 1000).copied().unwrap_or_default();
    println!(
        "| {name} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} |",
        visits.len(),
        share(302),
        share(503),
        100.0 - share(302) - share(503),
        quantile(500).as_secs_f64() * 1e3,
        quantile(990).as_secs_f64() * 1e3,
        taken.last().copied().unwrap_or_default().as_secs_f64() * 1e3,
    );
}

fn by_second(visits: &[Visit], from: Duration) {
    let mut seconds: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
    for visit in visits {
        seconds.entry((visit.at - from).as_secs()).or_default().push(visit.status);
    }
    let lines: Vec<String> = seconds
        .iter()
        .map(|(second, statuses)| {
            let of = |status| statuses.iter().filter(|one| **one == status).count();
            format!("{second}:{}/{}/{}", of(302), of(503), statuses.len() - of(302) - of(503))
        })
        .collect();
    println!("  second:302/503/other  {}", lines.join("  "));
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let number = |name: &str, default: u64| {
        let mut args = std::env::args().skip_while(|arg| arg != name);
        args.nth(1).map_or(default, |text| text.parse().unwrap())
    };
    let (count, rate) = (number("--links", 5_000), number("--rate", 160));
    let outage = Duration::from_secs(number("--seconds", 60));
    let mut redis = Redis::start();
    let mut instances = TestServer::builder().redis(&redis.url()).start_instances(3);
    let addresses = instances.addresses();
    let paths = make(&instances, usize::try_from(count).unwrap()).await;
    let weights = zipf(paths.len());
    let visitors = Visitors::start(&addresses);
    let ten = Duration::from_secs(10);

    println!("| | visits | 302 % | 503 % | other % | p50 ms | p99 ms | longest ms |");
    println!("|---|---|---|---|---|---|---|---|");
    visitors.stroll(&paths, &weights, rate, ten).await;
    let from = visitors.watch.elapsed();
    visitors.stroll(&paths, &weights, rate, ten).await;
    say("Redis answers", &visitors.since(from).await);

    redis.kill();
    let from = visitors.watch.elapsed();
    let fresh = async {
        // Links that are created during the outage, followed on every instance.
        let (mut statuses, watch) = (Vec::new(), Stopwatch::start());
        while watch.elapsed() < outage {
            let path = instances.limited(10_000).await;
            for address in &addresses {
                statuses.push(Visitor::new(address).get(&path).await.unwrap_or(0));
            }
            sleep(Duration::from_secs(1)).await;
        }
        statuses
    };
    let (fresh, ()) =
        futures_util::future::join(fresh, visitors.stroll(&paths, &weights, rate, outage)).await;
    let during = visitors.since(from).await;
    say("Redis is killed", &during);
    let served = fresh.iter().filter(|status| **status == 302).count();
    println!(
        "| links created meanwhile | {} | {:.2} | | | | | |",
        fresh.len(),
        served as f64 * 100.0 / fresh.len() as f64
    );
    redis.start_again();
    sleep(Duration::from_secs(3)).await;
    for pause in [1, 5] {
        let from = visitors.watch.elapsed();
        let stopping = async {
            redis.freeze();
            sleep(Duration::from_secs(pause)).await;
            redis.thaw();
        };
        let span = Duration::from_secs(pause + 2);
        futures_util::future::join(stopping, visitors.stroll(&paths, &weights, rate, span)).await;
        say(&format!("Redis is paused for {pause} s"), &visitors.since(from).await);
    }
    println!();
    println!("Redis is killed, by the second:");
    by_second(&during, from);

    emptied(&instances, &redis).await;
    killed(&mut instances).await;
}

const LIMIT: u64 = 20_000;

/// Redis loses its data under load on one link.
async fn emptied(instances: &Instances, redis: &Redis) {
    let (addresses, path) = (instances.addresses(), instances.limited(LIMIT).await);
    let emptying = async {
        sleep(Duration::from_millis(300)).await;
        redis.ask(&["flushall"]);
    };
    let visits = follow(&addresses, &path, 24, 2 * LIMIT);
    let (answers, ()) = futures_util::future::join(visits, emptying).await;
    println!("\nRedis is emptied: {} of {LIMIT} served", answers.count(302));
}

/// An instance is killed, and what it held comes back.
async fn killed(instances: &mut Instances) {
    let (addresses, path) = (instances.addresses(), instances.limited(LIMIT).await);
    let mut total = follow(&addresses, &path, 24, LIMIT / 4).await.count(302);
    sleep(Duration::from_secs(1)).await;
    instances.kill(0);
    let (others, watch) = (instances.addresses(), Stopwatch::start());
    while total < LIMIT && watch.elapsed() < Duration::from_mins(2) {
        total += follow(&others, &path, 16, 2_000).await.count(302);
        sleep(Duration::from_millis(200)).await;
    }
    let seconds = watch.elapsed().as_secs_f64();
    println!("an instance is killed: {total} of {LIMIT} served {seconds:.1} s later");
}
