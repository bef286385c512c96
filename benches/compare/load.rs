//! The load: wrk, with random codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::servers::Target;

/// What is requested, and how. All but the last with kurz's default settings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// 100,000 links, uniformly distributed, all cached.
    Uniform,
    /// The same, but 99 % of the requests go to one of them.
    Hot,
    /// Like `Uniform`, with the query that a social network appends.
    Query,
    /// Like `Query`, with the header fields of a browser.
    Browser,
    /// Like `Uniform`, but each connection carries another request once in a thousand.
    Mixed,
    /// Like `Uniform`, with a connection for each request.
    Close,
    /// Like `Uniform`, through an nginx that keeps its connections to the server.
    Proxy,
    /// Like `Uniform`, but every tenth link has a plan of eight rules.
    Planned,
    /// A million links, with a cache for about ten thousand.
    Cold,
}

impl Scenario {
    pub(crate) const ALL: [(&str, Self); 9] = [
        ("uniform", Self::Uniform),
        ("hot", Self::Hot),
        ("query", Self::Query),
        ("browser", Self::Browser),
        ("mixed", Self::Mixed),
        ("close", Self::Close),
        ("proxy", Self::Proxy),
        ("planned", Self::Planned),
        ("cold", Self::Cold),
    ];

    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Uniform => "100,000 links at random",
            Self::Hot => "100,000 links, one of them takes 99 %",
            Self::Query => "100,000 links at random, with a query",
            Self::Browser => "100,000 links at random, with the header fields of a browser",
            Self::Mixed => "100,000 links at random, another request once in a thousand",
            Self::Close => "100,000 links at random, a connection for each request",
            Self::Proxy => "100,000 links at random, behind nginx",
            Self::Planned => "100,000 links at random, every tenth with a plan of eight rules",
            Self::Cold => "1,000,000 links at random, memory for about 10,000",
        }
    }

    pub(crate) fn links(self) -> usize {
        if self == Self::Cold { 1_000_000 } else { 100_000 }
    }

    /// One link of so many has a plan.
    pub(crate) fn planned(self) -> Option<usize> {
        (self == Self::Planned).then_some(10)
    }

    /// `None` for the default.
    pub(crate) fn cache_bytes(self) -> Option<&'static str> {
        (self == Self::Cold).then_some("5MiB")
    }

    fn query(self) -> &'static str {
        match self {
            Self::Query | Self::Browser => {
                "?fbclid=IwY2xjawHh3OtleHRuA2FlbQIxMAABHZk2k_aem_3mZ0-XvGkXqLwzV5bHn9tA&utm_source=x"
            }
            _ => "",
        }
    }

    fn fields(self) -> &'static str {
        match self {
            Self::Close => r"Connection: close\r\n",
            Self::Browser => concat!(
                r"User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 ",
                r"(KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1\r\n",
                r"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n",
                r"Accept-Language: de-DE,de;q=0.9,en;q=0.8\r\n",
                r"Accept-Encoding: gzip, deflate, br\r\n",
                r"Referer: https://l.instagram.com/\r\n",
                r"Sec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: cross-site\r\n",
            ),
            _ => "",
        }
    }

    /// Lua that returns some of the requests.
    fn choice(self) -> &'static str {
        match self {
            Self::Hot => "if math.random() < 0.99 then return requests[1] end",
            Self::Mixed => "if math.random() < 0.001 then return other end",
            _ => "",
        }
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
        let (query, fields, choose) = (scenario.query(), scenario.fields(), scenario.choice());
        // Requests are prepared, so that wrk does not spend its time on formatting them.
        let script = format!(
            r#"
requests = {{}}
other = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
function init(args)
  math.randomseed(os.time() + tonumber(tostring({{}}):sub(8), 16) % 100000)
  for code in io.lines("{list}") do
    requests[#requests + 1] = "GET /" .. code .. "{query} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"
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
