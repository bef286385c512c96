//! One and three instances on one PostgreSQL and one Redis, one without Redis, and one on SQLite, in turns: redirects
//! of a link with a limit, or with `--links N` of as many links at random; creations; what each costs in CPU; and
//! Redis commands for each redirect. CPU is that of kurz, PostgreSQL and Redis together.
//!
//! ```text
//! ./scripts/with-servers cargo bench --bench scale [-- --rounds N] [--seconds N] [--links N]
//! ```
//!
//! wrk (Debian's package) loads redirects; creations come from 32 connections of the bench itself.
//! All of it shares the machine with PostgreSQL and Redis: ratios within one run mean more than
//! absolute figures.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    clippy::disallowed_methods,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A running kurz.
struct Kurz {
    child: Child,
    address: String,
    admin: String,
}

/// What an instance runs on.
#[derive(Clone, Copy)]
enum Setup<'a> {
    Sqlite,
    Postgres { redis: Option<&'a str> },
}

impl Kurz {
    fn start(setup: Setup<'_>, folder: &Path) -> Self {
        let (store, redis) = match setup {
            Setup::Sqlite => (format!("sqlite://{}", folder.join("kurz.db").display()), None),
            Setup::Postgres { redis } => {
                let url = std::env::var("TEST_POSTGRES_URL");
                (url.expect("run it by ./scripts/with-servers"), redis)
            }
        };
        let mut child = Command::new(env!("CARGO_BIN_EXE_kurz"))
            .args(["serve", "--open"])
            .env("KURZ_STORE", store)
            .env("KURZ_REDIS", redis.unwrap_or_default())
            .env("KURZ_LISTEN", "127.0.0.1:0")
            .env("KURZ_ADMIN_LISTEN", "127.0.0.1:0")
            .env("KURZ_LIMITS", "off")
            .env("KURZ_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut address = |label: &str| {
            let found = lines.find_map(|line| Some(line.unwrap().strip_prefix(label)?.to_owned()));
            found.unwrap().trim_end_matches('/').to_owned()
        };
        let admin = address("admin on http://");
        let address = address("listening on http://");
        Self { child, address, admin }
    }

    /// Commands sent to Redis so far.
    fn commands(&self) -> f64 {
        let page = call(&self.admin, "GET", "/metrics", "");
        let lines = page.lines().filter(|line| line.starts_with("kurz_redis_commands_total"));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    }
}

/// Processor time of all servers on this machine, those that ended included, in microseconds.
fn cpu_us() -> f64 {
    let mut ticks = 0.0;
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = fs::read_to_string(process.path().join("stat")) else { continue };
        let Some((name, fields)) = stat.split_once(") ") else { continue };
        let name = name.split_once('(').map_or("", |(_, name)| name);
        if !["kurz", "postgres", "redis-server"].contains(&name) {
            continue;
        }
        // User and system time of the process and of its children that ended.
        let fields: Vec<&str> = fields.split(' ').collect();
        ticks += fields[11..15].iter().map(|field| field.parse::<f64>().unwrap()).sum::<f64>();
    }
    // A tick is 10 ms on every Linux that Debian builds.
    ticks * 10_000.0
}

/// The same, once nothing works any more: clicks are written after the load.
fn calm_cpu_us() -> f64 {
    let mut before = cpu_us();
    loop {
        thread::sleep(Duration::from_secs(2));
        let now = cpu_us();
        if now - before < 100_000.0 {
            return now;
        }
        before = now;
    }
}

impl Drop for Kurz {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request on a new connection; returns the response's body.
fn call(address: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The figures of one round.
#[derive(Clone, Copy, Default)]
struct Sample {
    redirects: f64,
    redirect_us: f64,
    commands: f64,
    creates: f64,
    create_us: f64,
}

/// Links that are followed.
struct Links {
    script: PathBuf,
    codes: Vec<String>,
}

impl Links {
    /// One with a limit that is never reached, or many with the default limit.
    fn make(kurz: &Kurz, count: usize, folder: &Path) -> Self {
        let path = "/api/v1/workspaces/main/links";
        let mut made = String::new();
        if count == 1 {
            let body = r#"{"original_url":"https://example.com/hot","hit_limit":900000000000}"#;
            made = call(&kurz.address, "POST", path, body);
        }
        for _ in 0..count / 1000 {
            let one = r#"{"original_url":"https://example.com/","strategy":"random"}"#;
            let body = format!("{{\"links\":[{}]}}", [one; 1000].join(","));
            made += &call(&kurz.address, "POST", &format!("{path}/bulk"), &body);
        }
        let codes = made.split("\"short_code\":\"").skip(1);
        let codes: Vec<String> =
            codes.map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        assert_eq!(codes.len(), count);
        let (list, script) = (folder.join("codes.txt"), folder.join("load.lua"));
        fs::write(&list, codes.join("\n")).unwrap();
        let text = r#"
requests = {}
function init(args)
  math.randomseed(os.time() + tonumber(tostring({}):sub(8), 16) % 100000)
  for code in io.lines("LIST") do
    requests[#requests + 1] = "GET /" .. code .. " HTTP/1.1\r\nHost: localhost\r\n\r\n"
  end
end
function request()
  return requests[math.random(#requests)]
end
"#;
        fs::write(&script, text.replace("LIST", &list.display().to_string())).unwrap();
        Self { script, codes }
    }

    /// Follow each once on each instance.
    fn warm(&self, instances: &[Kurz]) {
        thread::scope(|scope| {
            for kurz in instances {
                for part in self.codes.chunks(self.codes.len().div_ceil(8)) {
                    scope.spawn(move || {
                        let stream = TcpStream::connect(&kurz.address).unwrap();
                        stream.set_nodelay(true).unwrap();
                        let mut reader = BufReader::new(stream);
                        for code in part {
                            let request =
                                format!("GET /{code} HTTP/1.1\r\nhost: localhost\r\n\r\n");
                            reader.get_mut().write_all(request.as_bytes()).unwrap();
                            let status = answer(&mut reader);
                            assert!(status.starts_with("HTTP/1.1 302"), "{code}: {status}");
                        }
                    });
                }
            }
        });
    }
}

fn measure(instances: &[Kurz], seconds: u64, count: usize, folder: &Path) -> Sample {
    let links = Links::make(&instances[0], count, folder);
    links.warm(instances);
    let before = calm_cpu_us();
    let asked: f64 = instances.iter().map(Kurz::commands).sum();
    let loads: Vec<Child> =
        instances.iter().map(|kurz| wrk(kurz, &links.script, instances, seconds)).collect();
    let mut served = 0.0;
    for load in loads {
        let said = String::from_utf8(load.wait_with_output().unwrap().stdout).unwrap();
        assert!(!said.contains("Non-2xx or 3xx"), "{said}");
        let line = said.lines().find(|line| line.contains("requests in")).unwrap();
        served += line.trim().split(' ').next().unwrap().parse::<f64>().unwrap();
    }
    let used = calm_cpu_us() - before;
    let commands = instances.iter().map(Kurz::commands).sum::<f64>() - asked;
    let (creates, create_us) = create(instances, seconds);
    Sample {
        redirects: served / seconds as f64,
        redirect_us: used / served,
        commands: commands / served,
        creates,
        create_us,
    }
}

fn wrk(kurz: &Kurz, script: &Path, all: &[Kurz], seconds: u64) -> Child {
    let connections = format!("-c{}", 63 / all.len());
    Command::new("wrk")
        .args(["-t1", &connections, &format!("-d{seconds}s"), "-s"])
        .arg(script)
        .arg(format!("http://{}/", kurz.address))
        .stdout(Stdio::piped())
        .spawn()
        .expect("wrk is installed (Debian's package wrk)")
}

/// Links created per second, and CPU time per link.
fn create(instances: &[Kurz], seconds: u64) -> (f64, f64) {
    let made = AtomicUsize::new(0);
    let before = cpu_us();
    let watch = Instant::now();
    thread::scope(|scope| {
        for number in 0..32 {
            let (address, made) = (&instances[number % instances.len()].address, &made);
            scope.spawn(move || {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                let mut reader = BufReader::new(stream);
                while watch.elapsed().as_secs() < seconds {
                    let body = r#"{"original_url":"https://example.com/made"}"#;
                    let request = format!(
                        "POST /api/v1/workspaces/main/links HTTP/1.1\r\nhost: localhost\r\n\
                         content-length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    reader.get_mut().write_all(request.as_bytes()).unwrap();
                    assert!(answer(&mut reader).starts_with("HTTP/1.1 201"));
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let used = cpu_us() - before;
    let made = made.into_inner() as f64;
    (made / watch.elapsed().as_secs_f64(), used / made)
}

/// Read a whole response; returns its first line.
fn answer(reader: &mut BufReader<TcpStream>) -> String {
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    first
}

fn median(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let number = |name: &str, default: u64| {
        let mut args = std::env::args().skip_while(|arg| arg != name);
        args.nth(1).map_or(default, |text| text.parse().unwrap())
    };
    let (rounds, seconds) = (number("--rounds", 5), number("--seconds", 5));
    let redis = std::env::var("TEST_REDIS_URL").expect("run it by ./scripts/with-servers");
    let links = usize::try_from(number("--links", 1)).unwrap();
    let (alone, shared) =
        (Setup::Postgres { redis: None }, Setup::Postgres { redis: Some(redis.as_str()) });
    let kinds = [
        ("1 instance, SQLite", 1, Setup::Sqlite),
        ("1 instance, PostgreSQL", 1, alone),
        ("1 instance, PostgreSQL and Redis", 1, shared),
        ("3 instances, PostgreSQL and Redis", 3, shared),
    ];
    let mut samples = vec![Vec::new(); kinds.len()];
    for _ in 0..rounds {
        for ((_, count, setup), samples) in kinds.iter().zip(&mut samples) {
            let folder = tempfile::tempdir().unwrap();
            let instances: Vec<Kurz> =
                (0..*count).map(|_| Kurz::start(*setup, folder.path())).collect();
            samples.push(measure(&instances, seconds, links, folder.path()));
        }
    }
    println!("| | redirects/s | CPU µs | commands per redirect | creations/s | CPU µs |");
    println!("|---|---|---|---|---|---|");
    for ((name, _, _), samples) in kinds.iter().zip(&samples) {
        println!(
            "| {name} | {:.0} | {:.2} | {:.6} | {:.0} | {:.0} |",
            median(samples, |sample| sample.redirects),
            median(samples, |sample| sample.redirect_us),
            median(samples, |sample| sample.commands),
            median(samples, |sample| sample.creates),
            median(samples, |sample| sample.create_us),
        );
    }
    for (at, (name, _, _)) in kinds.iter().enumerate().skip(1) {
        let ratio = |of: fn(&Sample) -> f64| -> Vec<f64> {
            samples[at].iter().zip(&samples[0]).map(|(one, first)| of(one) / of(first)).collect()
        };
        println!(
            "\n{name}, to SQLite, each round: redirects/s {:.2?}, CPU {:.2?}",
            ratio(|sample| sample.redirects),
            ratio(|sample| sample.redirect_us),
        );
    }
}
