//! One and three instances on one PostgreSQL and one Redis, and one without Redis, in turns: redirects
//! of a link with a limit, creations, what each costs in CPU, and Redis commands for each redirect.
//!
//! ```text
//! ./scripts/with-servers cargo bench --bench scale [-- --rounds N] [--seconds N]
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
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// A running kurz.
struct Kurz {
    child: Child,
    address: String,
    admin: String,
}

impl Kurz {
    fn start(redis: Option<&str>) -> Self {
        let store = std::env::var("TEST_POSTGRES_URL").expect("run it by ./scripts/with-servers");
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
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(label).unwrap().trim_end_matches('/').to_owned()
        };
        let admin = address("admin on http://");
        let address = address("listening on http://");
        Self { child, address, admin }
    }

    /// Processor time in microseconds.
    fn cpu_us(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        // User and system time; a tick is 10 ms on every Linux that Debian builds.
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) * 10_000.0
    }

    /// Commands sent to Redis so far.
    fn commands(&self) -> f64 {
        let page = call(&self.admin, "GET", "/metrics", "");
        let lines = page.lines().filter(|line| line.starts_with("kurz_redis_commands_total"));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
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
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
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

fn measure(instances: &[Kurz], seconds: u64) -> Sample {
    let body = r#"{"original_url":"https://example.com/hot","hit_limit":900000000000}"#;
    let made = call(&instances[0].address, "POST", "/api/v1/workspaces/main/links", body);
    let code = made.split("\"short_code\":\"").nth(1).unwrap().split('"').next().unwrap();
    for kurz in instances {
        call(&kurz.address, "GET", &format!("/{code}"), "");
    }
    let before: f64 = instances.iter().map(Kurz::cpu_us).sum();
    let asked: f64 = instances.iter().map(Kurz::commands).sum();
    let loads: Vec<Child> =
        instances.iter().map(|kurz| wrk(kurz, code, instances, seconds)).collect();
    let mut served = 0.0;
    for load in loads {
        let said = String::from_utf8(load.wait_with_output().unwrap().stdout).unwrap();
        assert!(!said.contains("Non-2xx or 3xx"), "{said}");
        let line = said.lines().find(|line| line.contains("requests in")).unwrap();
        served += line.trim().split(' ').next().unwrap().parse::<f64>().unwrap();
    }
    let used: f64 = instances.iter().map(Kurz::cpu_us).sum::<f64>() - before;
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

fn wrk(kurz: &Kurz, code: &str, all: &[Kurz], seconds: u64) -> Child {
    let connections = format!("-c{}", 63 / all.len());
    Command::new("wrk")
        .args(["-t1", &connections, &format!("-d{seconds}s")])
        .arg(format!("http://{}/{code}", kurz.address))
        .stdout(Stdio::piped())
        .spawn()
        .expect("wrk is installed (Debian's package wrk)")
}

/// Links created per second, and CPU time per link.
fn create(instances: &[Kurz], seconds: u64) -> (f64, f64) {
    let made = AtomicUsize::new(0);
    let before: f64 = instances.iter().map(Kurz::cpu_us).sum();
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
                        "POST /api/v1/workspaces/main/links HTTP/1.1\r\nhost: x\r\n\
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
    let used: f64 = instances.iter().map(Kurz::cpu_us).sum::<f64>() - before;
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
    let kinds = [("1 instance, no Redis", 1, None), ("1 instance", 1, Some(redis.as_str()))];
    let kinds = [kinds[0], kinds[1], ("3 instances", 3, Some(redis.as_str()))];
    let mut samples = vec![Vec::new(); kinds.len()];
    for _ in 0..rounds {
        for ((_, count, redis), samples) in kinds.iter().zip(&mut samples) {
            let instances: Vec<Kurz> = (0..*count).map(|_| Kurz::start(*redis)).collect();
            measure(&instances, 1);
            samples.push(measure(&instances, seconds));
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
    let ratios: Vec<f64> = samples[0]
        .iter()
        .zip(&samples[1])
        .map(|(without, with)| with.redirects / without.redirects)
        .collect();
    println!("\nwith Redis / without, each round: {ratios:.3?}");
}
