//! Several instances of kurz as processes on one PostgreSQL database.

use std::time::Duration;

use kurz::clock::Clock;
use kurz::store::Store;
use kurz_core::link::Month;
use serde_json::{Value, json};

use crate::http::Http;
use crate::links;
use crate::process::{Process, Program};

/// Three instances, or as many as a test likes; [`crate::Builder::start_instances`] starts them.
pub struct Instances {
    programs: Vec<Program>,
    pub running: Vec<Option<Process>>,
}

impl Instances {
    pub(crate) fn start(programs: Vec<Program>, redis: bool) -> Self {
        // Not in the last minutes of a month: a limit would begin anew in the middle of a test.
        let wait = Month::seconds_left(Clock::system().now());
        if wait < 120 {
            std::thread::sleep(Duration::from_secs(wait.unsigned_abs() + 1));
        }
        // One after the other: the first creates the tables.
        let running = programs.iter().map(|program| Some(program.start())).collect();
        let instances = Self { programs, running };
        if redis {
            instances.wait_for_redis();
        }
        instances
    }

    /// Wait until every instance says that Redis answers.
    pub fn wait_for_redis(&self) {
        for process in self.running.iter().flatten() {
            process.wait_for_log("instances talk through Redis");
        }
    }

    pub fn kill(&mut self, at: usize) {
        self.running[at].take().unwrap().kill_9();
    }

    pub fn start_one(&mut self, at: usize) {
        self.running[at] = Some(self.programs[at].start());
    }

    /// End one as an operator does.
    pub fn terminate(&mut self, at: usize) {
        let (status, log) = self.running[at].take().unwrap().terminate();
        assert!(status.success(), "it ended with {status}; it wrote:\n{log}");
    }

    /// A client of one.
    pub fn http(&self, at: usize) -> Http {
        Http::new(self.running[at].as_ref().unwrap().base_url())
    }

    /// `host:port` of each that runs.
    pub fn addresses(&self) -> Vec<String> {
        let running = self.running.iter().flatten();
        running.map(|process| address(process.base_url())).collect()
    }

    /// `host:port` of one.
    pub fn address(&self, at: usize) -> String {
        address(self.running[at].as_ref().unwrap().base_url())
    }

    /// Their store, opened once more.
    pub async fn open_store(&self) -> Store {
        let config = crate::TestServer::builder().config(self.programs[0].home());
        Store::open(&config.store).await.unwrap()
    }

    /// A link with a limit of its own.
    pub async fn limited(&self, limit: u64) -> String {
        let body = json!({ "original_url": "https://example.com/", "hit_limit": limit });
        let running = self.running.iter().position(Option::is_some).unwrap();
        links::short_path(&links::make(&self.http(running), "main", &body).await)
    }
}

fn address(url: &str) -> String {
    url.strip_prefix("http://").unwrap().to_owned()
}

/// The link at `path` of `main`, as the API shows it.
pub async fn shown(http: &Http, path: &str) -> Value {
    let code = path.trim_start_matches('/');
    http.get(&format!("/api/v1/workspaces/main/links/{code}")).await.expect(200).json()
}
