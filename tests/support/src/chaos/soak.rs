//! A server under a steady mix of redirects, misses and creations for a long time, among thousands
//! of connections that rest. Nothing fails, and neither memory nor descriptors grow.
//!
//! The connections come from 64 addresses, so that the bound on connections from one stays on.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use futures_util::future::join_all;
use kurz::clock::Stopwatch;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::process::Process;
use crate::rng::Rng;
use crate::server::TestServer;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub active: u64,
    pub resting: u64,
    /// Each active connection asks this often.
    pub every: Duration,
    /// So many requests on each of 16 connections fill the caches first.
    pub filling: u64,
    /// Then the load begins, and after this time it is measured.
    pub warm_up: Duration,
    pub span: Duration,
    /// How often the server is looked at.
    pub sample: Duration,
}

/// The server, as the system sees it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub at: Duration,
    /// Memory of its own, without files.
    pub own_kib: u64,
    pub resident_kib: u64,
    pub descriptors: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Figures {
    pub requests: u64,
    pub created: u64,
    /// Answers that a limit refused; none of them is a redirect.
    pub limited: u64,
    pub errors: Vec<String>,
    pub samples: Vec<Sample>,
    /// Of the first third of the span, and of the last, in milliseconds.
    pub p99_ms: (f64, f64),
    pub resting_at_end: u64,
    pub kib_before_resting: u64,
}

impl Figures {
    /// By how much its own memory grew in an hour, by a straight line through all samples.
    #[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "far below 2^53")]
    pub fn kib_an_hour(&self) -> f64 {
        let points =
            self.samples.iter().map(|one| (one.at.as_secs_f64() / 3600.0, one.own_kib as f64));
        let points: Vec<(f64, f64)> = points.collect();
        let count = points.len() as f64;
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / count;
        let hours = mean(points.iter().map(|point| point.0).collect());
        let kib = mean(points.iter().map(|point| point.1).collect());
        let up: f64 = points.iter().map(|(x, y)| (x - hours) * (y - kib)).sum();
        let across: f64 = points.iter().map(|(x, _)| (x - hours).powi(2)).sum();
        up / across
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let descriptors = self.samples.iter().map(|one| one.descriptors);
        let last = self.samples.last().expect("it was looked at");
        write!(
            f,
            "{} requests, {} links made, {} refused by a limit, {} errors {:?}; {} resting connections were \
             there at the end. Own memory {} KiB (resident {} KiB; {} KiB before the crowd came), {:+.0} KiB \
             an hour (aim: below 1024); {} to {} descriptors. p99 {:.2} ms in the first third, {:.2} ms in \
             the last.",
            self.requests,
            self.created,
            self.limited,
            self.errors.len(),
            self.errors,
            self.resting_at_end,
            last.own_kib,
            last.resident_kib,
            self.kib_before_resting,
            self.kib_an_hour(),
            descriptors.clone().min().unwrap_or_default(),
            descriptors.max().unwrap_or_default(),
            self.p99_ms.0,
            self.p99_ms.1
        )
    }
}

/// A connection that is kept, from one of 64 addresses.
struct Caller {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Caller {
    async fn connect(to: SocketAddr, number: u64) -> std::io::Result<Self> {
        let last = u8::try_from(number % 64).unwrap();
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 1 + last / 32, 1 + last), 0)))?;
        let stream = socket.connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::new() })
    }

    /// Ask, and give the status and the body.
    async fn ask(&mut self, request: &str) -> std::io::Result<(u16, String)> {
        self.stream.write_all(request.as_bytes()).await?;
        self.read.clear();
        loop {
            let mut space = [0; 4096];
            let read = self.stream.read(&mut space).await?;
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            self.read.extend_from_slice(&space[..read]);
            let text = String::from_utf8_lossy(&self.read);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.split_once("content-length: ").map_or("0", |(_, rest)| rest);
            let length: usize = length.split("\r\n").next().unwrap_or("0").parse().unwrap_or(0);
            if body.len() >= length {
                return Ok((head[9..12].parse().unwrap(), body.to_owned()));
            }
        }
    }
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

fn post(number: u64, name: &str) -> String {
    let body = json!({ "original_url": format!("https://example.com/soak/{name}/{number}") });
    let body = body.to_string();
    let head = "POST /api/v1/workspaces/soak/links HTTP/1.1\r\nHost: localhost\r\n";
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// What everybody writes into.
#[derive(Default)]
struct Notes {
    requests: AtomicU64,
    created: AtomicU64,
    limited: AtomicU64,
    errors: Mutex<Vec<String>>,
    stop: AtomicBool,
    /// How long each redirect took, with the time it was asked at.
    waits: Mutex<Vec<(Duration, Duration)>>,
}

impl Notes {
    fn failed(&self, what: String) {
        let mut errors = self.errors.lock().unwrap();
        if errors.len() < 100 {
            errors.push(what);
        }
    }
}

/// 95 of 100 ask for a link that exists, 3 for one that does not, 2 make one.
async fn work(
    plan: Plan,
    to: SocketAddr,
    number: u64,
    codes: &[String],
    notes: &Notes,
    watch: &Stopwatch,
) {
    let mut rng = Rng::new(plan.seed).fork(number);
    let mut caller = Caller::connect(to, number).await.unwrap();
    let mut ticks = tokio::time::interval(plan.every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while !notes.stop.load(SeqCst) {
        ticks.tick().await;
        let (request, expected) = match rng.below(100) {
            0..=94 => (get(&codes[rng.index(codes.len())]), 302),
            95..=97 => (get(&format!("/w/soak/none-{}", rng.next_u64())), 404),
            _ => (post(rng.next_u64(), "a"), 201),
        };
        let asked = Stopwatch::start();
        match caller.ask(&request).await {
            Ok((status, _)) if status == expected => {
                if expected == 302 {
                    let wait = (watch.elapsed(), asked.elapsed());
                    notes.waits.lock().unwrap().push(wait);
                }
                notes.created.fetch_add(u64::from(expected == 201), SeqCst);
            }
            // A limit may refuse what is no redirect.
            Ok((429, _)) if expected != 302 => {
                notes.limited.fetch_add(1, SeqCst);
            }
            Ok((status, body)) => notes.failed(format!("{status} instead of {expected}: {body}")),
            Err(error) => {
                notes.failed(format!("connection {number}: {error}"));
                caller = Caller::connect(to, number).await.unwrap();
            }
        }
        notes.requests.fetch_add(1, SeqCst);
    }
}

/// Links and absent addresses that fill caches: kurz's own, and those of each connection to the
/// database, which is why many ask at once.
async fn fill(to: SocketAddr, number: u64, times: u64) {
    let mut caller = Caller::connect(to, number).await.unwrap();
    for at in 0..times {
        let request = match at % 4 {
            0 => post(number * times + at, "filling"),
            _ => get(&format!("/w/soak/absent-{number}-{at}")),
        };
        let (status, _) = caller.ask(&request).await.unwrap();
        assert!([201, 404, 429].contains(&status), "{status}");
    }
}

fn look(process: &Process, at: Duration) -> Sample {
    let folder = format!("/proc/{}", process.pid());
    let status = std::fs::read_to_string(format!("{folder}/status")).unwrap();
    let kib = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let descriptors = std::fs::read_dir(format!("{folder}/fd")).unwrap().count();
    Sample { at, own_kib: kib("RssAnon:"), resident_kib: kib("VmRSS:"), descriptors }
}

/// Run it. What went wrong is in the figures.
pub async fn run(plan: Plan, told: impl Fn(&Sample, u64)) -> Figures {
    let program = TestServer::builder()
        .default_timeouts()
        // Full before the first look, so that what grows afterwards is not a cache that fills.
        .setting("KURZ_CACHE_BYTES", "4MiB")
        .setting("KURZ_REPEAT_BYTES", "64KiB")
        .setting("KURZ_HIT_LIMIT", "0")
        .setting("KURZ_IDLE_TIMEOUT", "1h")
        .setting("KURZ_LOG", "error")
        .process();
    let process = tokio::task::block_in_place(|| program.start());
    let to: SocketAddr = process.base_url().trim_start_matches("http://").parse().unwrap();
    let notes = Notes::default();
    let mut first = Caller::connect(to, 0).await.unwrap();
    let mut codes = Vec::new();
    for number in 0..1000 {
        let (status, body) = first.ask(&post(number, "first")).await.unwrap();
        assert_eq!(status, 201, "{body}");
        let link: serde_json::Value = serde_json::from_str(&body).unwrap();
        codes.push(format!("/w/soak/{}", link["short_code"].as_str().unwrap()));
    }
    let kib_before_resting = look(&process, Duration::ZERO).own_kib;
    let mut resting = Vec::new();
    for number in 0..plan.resting {
        let mut caller = Caller::connect(to, number).await.unwrap();
        assert_eq!(caller.ask(&get("/healthz")).await.unwrap().0, 200);
        resting.push(caller);
    }
    join_all((0..16).map(|number| fill(to, number, plan.filling))).await;
    let watch = Stopwatch::start();
    let workers = (0..plan.active).map(|number| work(plan, to, number, &codes, &notes, &watch));
    let mut samples = Vec::new();
    let observer = async {
        let end = plan.warm_up + plan.span;
        while watch.elapsed() < end {
            tokio::time::sleep(plan.sample.min(end.saturating_sub(watch.elapsed()))).await;
            let sample = look(&process, watch.elapsed());
            told(&sample, notes.requests.load(SeqCst));
            if sample.at >= plan.warm_up {
                samples.push(sample);
            }
        }
        notes.stop.store(true, SeqCst);
    };
    futures_util::future::join(join_all(workers), observer).await;
    let mut resting_at_end = 0;
    for caller in &mut resting {
        let alive = caller.ask(&get("/healthz")).await.is_ok_and(|(status, _)| status == 200);
        resting_at_end += u64::from(alive);
    }
    let waits = notes.waits.into_inner().unwrap();
    let third = plan.span / 3;
    let early = |at: Duration| at >= plan.warm_up && at < plan.warm_up + third;
    let late = |at: Duration| at >= plan.warm_up + 2 * third;
    Figures {
        requests: notes.requests.load(SeqCst),
        created: notes.created.load(SeqCst),
        limited: notes.limited.load(SeqCst),
        errors: notes.errors.into_inner().unwrap(),
        samples,
        p99_ms: (p99(&waits, early), p99(&waits, late)),
        resting_at_end,
        kib_before_resting,
    }
}

fn p99(waits: &[(Duration, Duration)], when: impl Fn(Duration) -> bool) -> f64 {
    let mut some: Vec<Duration> =
        waits.iter().filter(|(at, _)| when(*at)).map(|(_, wait)| *wait).collect();
    some.sort();
    some.get(some.len() * 99 / 100).map_or(f64::NAN, |wait| wait.as_secs_f64() * 1e3)
}
