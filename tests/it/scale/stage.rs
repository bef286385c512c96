//! Instances of kurz on one store, and visitors: connections that follow links as fast as they are
//! answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use kurz::clock::Clock;
use kurz_core::link::Month;
use kurz_core::time::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::harness::http::Http;
use crate::harness::postgres::Database;
use crate::harness::process::{Process, Program};
use crate::links;

/// Three instances, or as many as a test likes.
pub(super) struct Instances {
    programs: Vec<Program>,
    pub(super) running: Vec<Option<Process>>,
    _database: Option<Database>,
}

impl Instances {
    /// On a database of their own, with settings.
    pub(super) fn start(count: usize, redis: &str, settings: &[(&str, &str)]) -> Self {
        let database = Database::create();
        let started = Self::start_on(database.url(), count, redis, settings);
        Self { _database: Some(database), ..started }
    }

    /// On a database that is there.
    pub(super) fn start_on(
        store: &str,
        count: usize,
        redis: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        // Not in the last minute of a month: a limit would begin anew in the middle of a test.
        let wait = Month::seconds_left(Clock::system().now());
        if wait < 120 {
            std::thread::sleep(std::time::Duration::from_secs(wait.unsigned_abs() + 1));
        }
        let programs: Vec<Program> = (0..count)
            .map(|_| {
                let mut program = Program::serve(&["--open"])
                    .env("KURZ_STORE", store)
                    .env("KURZ_REDIS", redis)
                    .env("KURZ_THREADS", "1")
                    .env("KURZ_POOL_SIZE", "4")
                    .env("KURZ_LIMITS", "off")
                    .env("KURZ_IDLE_TIMEOUT", "10m");
                for (name, value) in settings {
                    program = program.env(name, value);
                }
                program
            })
            .collect();
        // One first: it fills the store.
        let running = programs.iter().map(|program| Some(program.start())).collect();
        let instances = Self { programs, running, _database: None };
        if !redis.is_empty() {
            instances.wait_for_redis();
        }
        instances
    }

    /// Wait until every instance says that Redis answers.
    pub(super) fn wait_for_redis(&self) {
        for process in self.running.iter().flatten() {
            process.wait_for_log("instances talk through Redis");
        }
    }

    pub(super) fn kill(&mut self, at: usize) {
        self.running[at].take().unwrap().kill_9();
    }

    pub(super) fn start_one(&mut self, at: usize) {
        self.running[at] = Some(self.programs[at].start());
    }

    /// End one as an operator does.
    pub(super) fn terminate(&mut self, at: usize) {
        let (status, log) = self.running[at].take().unwrap().terminate();
        assert!(status.success(), "it ended with {status}; it wrote:\n{log}");
    }

    /// A client of one.
    pub(super) fn http(&self, at: usize) -> Http {
        Http::new(self.running[at].as_ref().unwrap().base_url())
    }

    /// `host:port` of each that runs.
    pub(super) fn addresses(&self) -> Vec<String> {
        let running = self.running.iter().flatten();
        running.map(|process| address(process.base_url())).collect()
    }

    /// `host:port` of one.
    pub(super) fn address(&self, at: usize) -> String {
        address(self.running[at].as_ref().unwrap().base_url())
    }

    /// A link with a limit of its own.
    pub(super) async fn limited(&self, limit: u64) -> String {
        let body = json!({ "original_url": "https://example.com/", "hit_limit": limit });
        let running = self.running.iter().position(Option::is_some).unwrap();
        links::short_path(&links::make(&self.http(running), "main", &body).await)
    }
}

fn address(url: &str) -> String {
    url.strip_prefix("http://").unwrap().to_owned()
}

/// What became of requests, by status; 0 is one without an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(pub(super) Vec<u16>);

impl Answers {
    pub(super) fn count(&self, status: u16) -> u64 {
        u64::try_from(self.0.iter().filter(|one| **one == status).count()).unwrap()
    }
}

/// `connections` spread over `addresses` follow `path` `requests` times in all.
pub(super) async fn storm(
    addresses: &[String],
    path: &str,
    connections: usize,
    requests: u64,
) -> Answers {
    let left = Arc::new(AtomicUsize::new(usize::try_from(requests).unwrap()));
    let visitors = (0..connections).map(|number| {
        let (left, address) = (Arc::clone(&left), addresses[number % addresses.len()].clone());
        async move {
            let mut statuses = Vec::new();
            let mut visitor = Visitor::new(&address);
            let one = |left: usize| left.checked_sub(1);
            while left.fetch_update(Ordering::AcqRel, Ordering::Acquire, one).is_ok() {
                statuses.push(visitor.get(path).await.unwrap_or(0));
            }
            statuses
        }
    });
    Answers(join_all(visitors).await.into_iter().flatten().collect())
}

/// A connection that is opened when it is needed, and again when it was closed.
pub(super) struct Visitor {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Visitor {
    pub(super) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None }
    }

    /// Go elsewhere from now on.
    pub(super) fn go_to(&mut self, address: &str) {
        if self.address != address {
            *self = Self::new(address);
        }
    }

    /// The status of a GET; an error when there is no answer.
    pub(super) async fn get(&mut self, path: &str) -> std::io::Result<u16> {
        let answer = self.exchange(path).await;
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    async fn exchange(&mut self, path: &str) -> std::io::Result<u16> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().expect("it was just made");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).await?;
        let (mut status, mut length, mut closes) = (0, 0, false);
        let mut line = String::new();
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end().to_ascii_lowercase();
            if status == 0 {
                status = text.get(9..12).and_then(|code| code.parse().ok()).unwrap_or(1);
            } else if let Some(value) = text.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if text == "connection: close" {
                closes = true;
            } else if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        if closes {
            self.stream = None;
        }
        Ok(status)
    }
}

/// The link at `path` of `main`, as the API shows it.
pub(super) async fn shown(http: &Http, path: &str) -> Value {
    let code = path.trim_start_matches('/');
    http.get(&format!("/api/v1/workspaces/main/links/{code}")).await.expect(200).json()
}

/// The month by this machine's clock, `YYYY-MM`.
pub(super) fn this_month() -> String {
    let now: Timestamp = Clock::system().now();
    Month::of(now).to_string()
}
