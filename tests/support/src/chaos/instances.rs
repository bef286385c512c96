//! Three instances on one PostgreSQL and one Redis, each behind proxies of its own that can be slow,
//! silent or cut. Faults come one after another on a seeded schedule: instances are killed and
//! stopped, Redis and PostgreSQL are killed, stopped and cut off, and between the faults all is to be
//! well. Clocks of the instances differ by minutes.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures_util::future::join_all;
use kurz::clock::Stopwatch;
use serde_json::json;
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::clock;
use super::creators::{Creator, Notes, WORKSPACES, look};
use super::history::{End, Key, Rule};
use super::proxy::{Condition, Proxy};
use crate::http::Http;
use crate::links;
use crate::process::{Process, Program};
use crate::rng::Rng;
use crate::server::TestServer;
use crate::servers::{Postgres, Redis, free_port};

const INSTANCES: usize = 3;
const PATIENCE: Duration = Duration::from_mins(1);
/// How far a link's hits may be behind in the store when Redis loses its memory.
const CHECKPOINT: Duration = Duration::from_secs(5);
const LIMIT: u64 = 3_000;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub faults: u64,
    /// How long a fault lasts, in milliseconds.
    pub lasting_ms: (u64, u64),
    pub clients: u64,
    /// How far the clocks of the second and the third instance are off.
    pub skew: [&'static str; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    KillInstance(usize),
    StopInstance(usize),
    RedisNetwork(Condition),
    RedisKilled,
    RedisStopped,
    PostgresNetwork(Condition),
    PostgresKilled,
    /// One instance alone is cut off from both.
    Island(usize),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Fault {
    fn draw(rng: &mut Rng) -> Self {
        let instance = rng.index(INSTANCES);
        let condition = match rng.below(5) {
            0 => Condition::Slow(Duration::from_millis(5)),
            1 => Condition::Slow(Duration::from_millis(50)),
            2 => Condition::Slow(Duration::from_millis(500)),
            3 => Condition::Silent,
            _ => Condition::Cut,
        };
        match rng.below(10) {
            0 => Self::KillInstance(instance),
            1 => Self::StopInstance(instance),
            2..=3 => Self::RedisNetwork(condition),
            4 => Self::RedisKilled,
            5 => Self::RedisStopped,
            6..=7 => Self::PostgresNetwork(condition),
            8 => Self::PostgresKilled,
            _ => Self::Island(instance),
        }
    }

    /// Whether making and following links may fail meanwhile. Redis alone excuses nothing.
    fn excuses(self) -> bool {
        !matches!(self, Self::RedisNetwork(_) | Self::RedisKilled | Self::RedisStopped)
    }
}

struct Cluster {
    programs: Vec<Program>,
    running: Vec<Option<Process>>,
    ports: Vec<u16>,
    redis: Redis,
    postgres: Postgres,
    to_redis: Vec<Proxy>,
    to_postgres: Vec<Proxy>,
}

impl Cluster {
    async fn start(plan: Plan) -> Self {
        let (redis, postgres) = block_in_place(|| (Redis::start(), Postgres::start()));
        let (mut to_redis, mut to_postgres, mut ports) = (Vec::new(), Vec::new(), Vec::new());
        let (mut programs, mut running) = (Vec::new(), Vec::new());
        for at in 0..INSTANCES {
            to_redis.push(Proxy::start(redis.url().replace("redis://", "")).await);
            let server = postgres.url();
            let server = server.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned();
            to_postgres.push(Proxy::start(server).await);
            // The same after a restart, so that clients find it again.
            ports.push(free_port());
            let mut program = TestServer::builder()
                .default_timeouts()
                .setting("KURZ_LISTEN", &format!("127.0.0.1:{}", ports[at]))
                .setting("KURZ_PUBLIC_URL", "http://localhost")
                .setting(
                    "KURZ_STORE",
                    &format!("postgres://postgres@127.0.0.1:{}/postgres", to_postgres[at].port()),
                )
                .setting("KURZ_REDIS", &format!("redis://127.0.0.1:{}", to_redis[at].port()))
                .setting("KURZ_THREADS", "1")
                .setting("KURZ_POOL_SIZE", "6")
                .setting("KURZ_STATEMENT_TIMEOUT", "2s")
                // A link whose hits nobody counts needs no Redis; one link has a limit of its own.
                .setting("KURZ_HIT_LIMIT", "0")
                .setting("KURZ_IDLE_TIMEOUT", "10m")
                .process();
            if let Some(skew) = at.checked_sub(1).map(|at| plan.skew[at]) {
                program = clock::shifted(program, skew);
            }
            running.push(Some(block_in_place(|| program.start())));
            programs.push(program);
        }
        Self { programs, running, ports, redis, postgres, to_redis, to_postgres }
    }

    fn https(&self) -> Vec<Http> {
        self.ports.iter().map(|port| Http::new(&format!("http://127.0.0.1:{port}"))).collect()
    }

    fn set_all(proxies: &[Proxy], condition: Condition) {
        for one in proxies {
            one.set(condition);
        }
    }

    fn instance(&self, at: usize) -> &Process {
        self.running[at].as_ref().expect("it runs")
    }

    fn begin(&mut self, fault: Fault) {
        match fault {
            Fault::KillInstance(at) => {
                self.running[at].take().expect("it runs").kill_9();
            }
            Fault::StopInstance(at) => self.instance(at).freeze(),
            Fault::RedisNetwork(condition) => Self::set_all(&self.to_redis, condition),
            Fault::RedisKilled => self.redis.kill(),
            Fault::RedisStopped => self.redis.freeze(),
            Fault::PostgresNetwork(condition) => Self::set_all(&self.to_postgres, condition),
            Fault::PostgresKilled => self.postgres.kill(),
            Fault::Island(at) => {
                self.to_redis[at].set(Condition::Silent);
                self.to_postgres[at].set(Condition::Silent);
            }
        }
    }

    fn end(&mut self, fault: Fault) {
        match fault {
            Fault::KillInstance(at) => self.running[at] = Some(self.programs[at].start()),
            Fault::StopInstance(at) => self.instance(at).thaw(),
            Fault::RedisKilled => self.redis.start_again(),
            Fault::RedisStopped => self.redis.thaw(),
            Fault::PostgresKilled => self.postgres.start_again(),
            Fault::RedisNetwork(_) | Fault::PostgresNetwork(_) | Fault::Island(_) => {}
        }
        Self::set_all(&self.to_redis, Condition::Good);
        Self::set_all(&self.to_postgres, Condition::Good);
    }

    /// Wait until every instance says that all is well; how long that took.
    async fn calm(&self, after: Fault) -> Duration {
        let watch = Stopwatch::start();
        for http in self.https() {
            loop {
                let ready = http.try_send(reqwest::Method::GET, "/readyz", None).await;
                let well = ready.is_ok_and(|answer| {
                    answer.status == 200 && answer.json()["checks"]["redis"] == "ok"
                });
                if well {
                    break;
                }
                assert!(watch.elapsed() < PATIENCE, "not well after {after}");
                sleep(Duration::from_millis(20)).await;
            }
        }
        watch.elapsed()
    }
}

/// Visitors of a limited link, and when they were served.
struct Hits {
    key: Key,
    recent: Mutex<VecDeque<Stopwatch>>,
}

impl Hits {
    /// How often the link was served within the time that the store may be behind.
    fn unwritten(&self) -> u64 {
        let mut recent = self.recent.lock().unwrap();
        while recent.front().is_some_and(|served| served.elapsed() > CHECKPOINT * 2) {
            recent.pop_front();
        }
        let late = recent.iter().filter(|served| served.elapsed() <= CHECKPOINT).count();
        u64::try_from(late).unwrap()
    }

    /// Follow the link on one instance or another until told to stop.
    async fn follow(&self, https: &[Http], mut rng: Rng, notes: &Notes) {
        while !notes.stop.load(SeqCst) {
            let at = rng.index(https.len());
            let path = self.key.path();
            let answer = https[at].try_send(reqwest::Method::GET, &path, None).await;
            match answer.map(|answer| answer.status) {
                Ok(302) => {
                    self.recent.lock().unwrap().push_back(Stopwatch::start());
                    notes.write(|history| history.served(&self.key, 1));
                }
                // Over the limit, out of reach, or gone.
                Ok(429 | 503) | Err(_) => {}
                Ok(other) => notes.write(|history| {
                    let what = format!("{path} answered {other}");
                    history.unexpected(Rule::Errors, what);
                }),
            }
            sleep(Duration::from_millis(rng.between(10, 30))).await;
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Figures {
    pub acknowledged: u64,
    pub unknown: u64,
    pub observed: u64,
    pub served: u64,
    /// From the end of each fault until every instance said that all is well.
    pub calm_after: Vec<(String, Duration)>,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} faults: {} operations acknowledged, {} without an answer, {} looks at three instances: none \
             lost, wrong, twice or over its limit; a link of {LIMIT} hits was served {} times. The longest \
             until all was well: {:?}.",
            self.calm_after.len(),
            self.acknowledged,
            self.unknown,
            self.observed,
            self.served,
            self.calm_after.iter().max_by_key(|(_, calm)| *calm)
        )
    }
}

/// Run it. Panics with what was broken, and the seed.
pub async fn run(plan: Plan, told: impl Fn(&str)) -> Figures {
    let mut cluster = Cluster::start(plan).await;
    let (notes, rng) = (Notes::default(), Rng::new(plan.seed));
    let https = cluster.https();
    cluster.calm(Fault::RedisNetwork(Condition::Good)).await;
    let body = json!({ "original_url": "https://example.com/red/limited", "hit_limit": LIMIT });
    let made = links::make(&https[0], WORKSPACES[0], &body).await;
    let hits = Hits { key: Key::new(WORKSPACES[0], links::code(&made)), recent: Mutex::default() };
    notes.write(|history| {
        history.created(
            hits.key.clone(),
            None,
            "https://example.com/red/limited",
            End::Acknowledged,
        );
        history.limited(hits.key.clone(), LIMIT);
    });
    let creators = (0..plan.clients).map(|client| {
        // Its own instance first.
        let mut own = https.clone();
        own.rotate_left(usize::try_from(client).unwrap() % INSTANCES);
        Creator::new(&notes, own, rng.fork(client), format!("c{client}")).until_stopped()
    });
    let visitors = (0..4).map(|number| hits.follow(&https, rng.fork(1000 + number), &notes));
    let (creators, visitors) = (join_all(creators), join_all(visitors));
    let schedule = async {
        let mut calm_after = Vec::new();
        let mut rng = rng.fork(u64::MAX);
        for number in 1..=plan.faults {
            let fault = Fault::draw(&mut rng);
            let lasting = Duration::from_millis(rng.between(plan.lasting_ms.0, plan.lasting_ms.1));
            told(&format!("{number}: {fault} for {lasting:?}"));
            notes.fault.store(fault.excuses(), SeqCst);
            if fault == Fault::RedisKilled {
                let unwritten = hits.unwritten();
                notes.write(|history| history.forgive(&hits.key, unwritten));
            }
            block_in_place(|| cluster.begin(fault));
            sleep(lasting).await;
            block_in_place(|| cluster.end(fault));
            let calm = cluster.calm(fault).await;
            calm_after.push((fault.to_string(), calm));
            // What waited in the proxy has its answer by now.
            sleep(Duration::from_millis(300)).await;
            notes.fault.store(false, SeqCst);
            sleep(Duration::from_millis(700)).await;
            notes.write(|history| history.expect_sound("cluster", plan.seed));
        }
        notes.stop.store(true, SeqCst);
        calm_after
    };
    let (_, _, calm_after) = futures_util::future::join3(creators, visitors, schedule).await;
    // By now every instance has heard of every change.
    sleep(Duration::from_secs(6)).await;
    let keys = notes.write(|history| history.keys());
    for http in &https {
        look(http, &notes, &keys, 8).await;
    }
    notes.write(|history| {
        history.expect_sound("cluster", plan.seed);
        Figures {
            acknowledged: history.acknowledged,
            unknown: history.unknown,
            observed: history.observed,
            served: history.times_served(&hits.key),
            calm_after,
        }
    })
}
