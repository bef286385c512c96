//! Following links that are not in memory: over HTTP, with the program's CPU time for each; and the
//! store's part of it alone, which is the look-up that every miss makes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kurz::clock::Stopwatch;
use kurz::store::Store;
use kurz_core::code::{canonicalise, deterministic};
use kurz_core::link::AddressKey;

use crate::figures::{Redirects, median};
use kurz_test_support::prefilled;

const ROUNDS: usize = 3;
const SECONDS: u32 = 6;
/// Codes that wrk draws from, at most: far more than the cache holds.
const DRAWN: usize = 500_000;
/// Look-ups of the store alone.
const LOOKUPS: usize = 200_000;
/// The minimum of the setting: room for about 2,000 links.
const CACHE: &str = "1MiB";

pub(crate) fn measure(file: &Path, links: usize) -> Redirects {
    let codes = codes(links);
    let lookup_us = look_up(file, &codes);
    let folder = file.parent().unwrap();
    let script = script(folder, &codes);
    let kurz = Kurz::start(file);
    load(&kurz, &script);
    let rounds: Vec<_> = (0..ROUNDS).map(|_| load(&kurz, &script)).collect();
    Redirects {
        per_second: median(rounds.iter().map(|round| round.0).collect()),
        cpu_us: median(rounds.iter().map(|round| round.1).collect()),
        lookup_us,
    }
}

/// Codes of links that are there, in no order.
fn codes(links: usize) -> Vec<String> {
    let workspace = prefilled::workspace();
    let drawn = links.min(DRAWN);
    // A step that shares no factor with the number of links meets each at most once.
    let step = 1_000_003;
    let code = |at: usize| {
        let canonical = canonicalise(&prefilled::url((at * step) % links + 1)).unwrap();
        deterministic::code(&canonical, &workspace, 0).to_string()
    };
    (0..drawn).map(code).collect()
}

/// Microseconds of one look-up, one after the other.
fn look_up(file: &Path, codes: &[String]) -> f64 {
    prefilled::runtime().block_on(async {
        let store = Store::open(&prefilled::config(file).store).await.unwrap();
        let mut times = Vec::new();
        for _ in 0..=ROUNDS {
            let watch = Stopwatch::start();
            for code in codes.iter().cycle().take(LOOKUPS) {
                assert!(
                    store.find_redirect_row(&AddressKey::Borrowed(code)).await.unwrap().is_some()
                );
            }
            times.push(watch.elapsed().as_secs_f64() * 1e6 / LOOKUPS as f64);
        }
        // The first round reads from disk what is cached later.
        median(times.split_off(1))
    })
}

fn script(folder: &Path, codes: &[String]) -> std::path::PathBuf {
    let list = folder.join("codes.txt");
    fs::write(&list, codes.join("\n")).unwrap();
    let text = format!(
        r#"
requests = {{}}
function init(args)
  math.randomseed(os.time() + tonumber(tostring({{}}):sub(8), 16) % 100000)
  for code in io.lines("{}") do
    requests[#requests + 1] = "GET /" .. code .. " HTTP/1.1\r\nHost: localhost\r\n\r\n"
  end
end
function request() return requests[math.random(#requests)] end
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %d %f %d\n", summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"#,
        list.display()
    );
    let path = folder.join("load.lua");
    fs::write(&path, text).unwrap();
    path
}

/// Redirects a second, and CPU time of the program in microseconds a redirect.
fn load(kurz: &Kurz, script: &Path) -> (f64, f64) {
    let before = kurz.cpu_ticks();
    let output = Command::new("wrk")
        .args(["-t2", "-c64", &format!("-d{SECONDS}s"), "-s"])
        .arg(script)
        .arg(&kurz.url)
        .output()
        .expect("wrk is installed (Debian's package wrk)");
    let ticks = kurz.cpu_ticks() - before;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("RESULT "));
    let line = line.unwrap_or_else(|| panic!("wrk said: {text}"));
    let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    let &[requests, seconds, errors] = numbers.as_slice() else { panic!("wrk said: {line}") };
    assert!(errors == 0.0, "{errors} requests were answered with errors");
    // A tick is 10 ms on every Linux that Debian builds.
    (requests / seconds, ticks * 10_000.0 / requests)
}

struct Kurz {
    child: Child,
    url: String,
}

impl Kurz {
    fn start(file: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kurz"))
            .args(["serve", "--open", "--listen", "127.0.0.1:0", "--store"])
            .arg(format!("sqlite://{}", file.display()))
            .env("KURZ_ADMIN_LISTEN", "off")
            .env("KURZ_CACHE_BYTES", CACHE)
            .env("KURZ_LOG", "error")
            .current_dir(file.parent().unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url =
            lines.find_map(|line| line.ok()?.strip_prefix("listening on ").map(str::to_owned));
        Self { child, url: url.expect("kurz says where it listens") }
    }

    /// User and system time so far.
    fn cpu_ticks(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let rest = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        rest.split(' ').skip(11).take(2).map(|field| field.parse::<f64>().unwrap()).sum()
    }
}

impl Drop for Kurz {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
