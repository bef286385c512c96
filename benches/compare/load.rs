//! The load: wrk, with random codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::servers::Target;

/// Which links are requested.
#[derive(Clone, Copy)]
pub(crate) enum Scenario {
    /// 100,000 links, uniformly distributed, all cached.
    Uniform,
    /// The same, but 99 % of the requests go to one of them.
    Hot,
    /// A million links, with a cache for about ten thousand.
    Cold,
}

impl Scenario {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Uniform => "100,000 links at random",
            Self::Hot => "100,000 links, one of them takes 99 %",
            Self::Cold => "1,000,000 links at random, memory for about 10,000",
        }
    }

    pub(crate) fn links(self) -> usize {
        if matches!(self, Self::Cold) { 1_000_000 } else { 100_000 }
    }

    pub(crate) fn cache_bytes(self) -> &'static str {
        if matches!(self, Self::Cold) { "5MiB" } else { "256MiB" }
    }
}

/// The result of one run of wrk.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) user_us: f64,
    pub(crate) system_us: f64,
    pub(crate) memory_mb: f64,
}

pub(crate) struct Wrk {
    script: PathBuf,
}

impl Wrk {
    pub(crate) fn new(folder: &Path, codes: &[String], scenario: Scenario) -> Self {
        let list = folder.join("codes.txt");
        fs::write(&list, codes.join("\n")).unwrap();
        let choose = match scenario {
            Scenario::Hot => "if math.random() < 0.99 then return requests[1] end",
            _ => "",
        };
        // Requests are prepared, so that wrk does not spend its time on formatting them.
        let script = format!(
            r#"
requests = {{}}
function init(args)
  math.randomseed(os.time() + tonumber(tostring({{}}):sub(8), 16) % 100000)
  for code in io.lines("{list}") do
    requests[#requests + 1] = "GET /" .. code .. " HTTP/1.1\r\nHost: localhost\r\n\r\n"
  end
end
function request()
  {choose}
  return requests[math.random(#requests)]
end
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %d %f %f %f %d\n", summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"#,
            list = list.display()
        );
        let path = folder.join("load.lua");
        fs::write(&path, script).unwrap();
        Self { script: path }
    }

    /// Load one server, and measure its CPU time until it is idle again.
    pub(crate) fn run(&self, target: &dyn Target, time: Duration) -> Sample {
        let before = target.cpu_ticks();
        let output = Command::new("wrk")
            .args(["-t2", "-c64", &format!("-d{}s", time.as_secs())])
            .arg("-s")
            .arg(&self.script)
            .arg(target.url())
            .output()
            .expect("wrk is installed (Debian's package wrk)");
        // Work that a server defers until the load is over counts too.
        let after = calm_ticks(target);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let line = line.unwrap_or_else(|| panic!("wrk said: {text}"));
        let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [requests, seconds, p50_ms, p99_ms, errors] = numbers[..] else {
            panic!("wrk said: {line}")
        };
        assert!(errors == 0.0, "{} answered {errors} requests with errors", target.name());
        // A tick is 10 ms on every Linux that Debian builds.
        let per_request = |ticks: u64| ticks as f64 * 10_000.0 / requests;
        Sample {
            per_second: requests / seconds,
            p50_ms,
            p99_ms,
            user_us: per_request(after.0 - before.0),
            system_us: per_request(after.1 - before.1),
            memory_mb: target.memory_mb(),
        }
    }
}

/// The ticks of a server after it has been idle for half a second.
fn calm_ticks(target: &dyn Target) -> (u64, u64) {
    let mut ticks = target.cpu_ticks();
    for _ in 0..60 {
        thread::sleep(Duration::from_millis(500));
        let now = target.cpu_ticks();
        if now.0 + now.1 <= ticks.0 + ticks.1 + 1 {
            return now;
        }
        ticks = now;
    }
    ticks
}
