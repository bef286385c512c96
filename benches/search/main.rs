//! Sixteen searchers of one ordinary account, and what they do to redirects at the same time, on an SQLite
//! store of a million links.
//!
//! ```text
//! cargo bench --bench search               # or with a number of links: -- 100000
//! ```
//!
//! kurz has its default limits. Visitors follow a link 5,000 times a second on 64 connections, on schedule
//! whether or not the response before was late. Quiet turns and turns with searchers alternate. The
//! searchers are a process of their own on the same cores, and ask again as soon as they are answered.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench: it talks on stdout and ends when something is missing"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use kurz_test_support::accounts::register;
use kurz_test_support::many_links::fill_sqlite;
use kurz_test_support::{TestServer, accounts, paced};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

const LINKS: u64 = 1_000_000;
const SEARCHERS: usize = 16;
const ROUNDS: usize = 5;
const TURN: Duration = Duration::from_secs(8);
/// Redirects a second.
const RATE: u32 = 5_000;
/// Absent, rare, common and short texts.
const TEXTS: [&str; 6] = ["zz", "nowhere-at-all", "host123.", "example%2Fsome", "title+44", "e"];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Some(at) = args.iter().position(|arg| arg == "--search-at") {
        let (address, token) = (args.get(at + 1).unwrap(), args.get(at + 2).unwrap());
        return runtime.block_on(search_on(address.parse().unwrap(), token));
    }
    let links = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(LINKS);
    let short = args.iter().any(|arg| arg == "--short");
    runtime.block_on(compare(links, if short { Duration::from_secs(2) } else { TURN }));
}

async fn compare(links: u64, turn: Duration) {
    let kurz = paced::start(TestServer::builder().accounts().limits());
    register(&kurz.http(), "many").await;
    register(&kurz.http(), "few").await;
    let file = kurz.home().sqlite_file();
    let program = kurz.stop();
    fill_sqlite(&file, links, 1000);
    let kurz = program.start();
    let many = accounts::try_log_in(&kurz.http(), "many", accounts::PASSWORD).await.expect(200);
    let token = many.json()["token"].as_str().unwrap().to_owned();
    let link = accounts::shorten(&kurz.http().bearer(&token), "https://example.com/hot").await;
    let path = format!("/{}", link["short_code"].as_str().unwrap());
    paced::follow(kurz.address(), &path, RATE, turn / 4).await;
    let (mut quiet, mut searched, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let alone = paced::follow(kurz.address(), &path, RATE, turn).await;
        let searchers = Searchers::start(kurz.address(), &token);
        let among = paced::follow(kurz.address(), &path, RATE, turn).await;
        let answers = searchers.stop();
        println!(
            "round {round}: quiet p50 {:.2} ms, p99 {:.2} ms; with {SEARCHERS} searchers p50 {:.2} ms, \
             p99 {:.2} ms; the searchers were answered {answers}; kurz has {:.0} MB",
            alone.p50_ms,
            alone.p99_ms,
            among.p50_ms,
            among.p99_ms,
            kurz.memory_mb()
        );
        ratios.push(among.p99_ms / alone.p99_ms);
        quiet.push(alone.p99_ms);
        searched.push(among.p99_ms);
    }
    println!(
        "\nMedians at {links} links: p99 quiet {:.2} ms, with searchers {:.2} ms, ratio {:.2} (aim: at \
         most 2).",
        paced::median(quiet),
        paced::median(searched),
        paced::median(ratios)
    );
}

/// The searchers, in their own process. It ends when its standard input does.
struct Searchers {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Searchers {
    fn start(address: SocketAddr, token: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--search-at", &address.to_string(), token]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "searching");
        Self { child, input, lines }
    }

    /// End it; how many answers of each status there were.
    fn stop(mut self) -> String {
        drop(self.input.take());
        let answers = self.lines.next().unwrap().unwrap();
        assert!(self.child.wait().unwrap().success());
        answers
    }
}

/// Search until standard input ends.
async fn search_on(address: SocketAddr, token: &str) {
    let answers: Rc<RefCell<BTreeMap<String, u64>>> = Rc::default();
    let tasks = LocalSet::new();
    for at in 0..SEARCHERS {
        let (answers, token) = (Rc::clone(&answers), token.to_owned());
        tasks.spawn_local(async move {
            for text in TEXTS.iter().cycle().skip(at) {
                let status = search(address, &token, text).await;
                *answers.borrow_mut().entry(status).or_default() += 1;
            }
        });
    }
    println!("searching");
    let end = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    let _ = tasks.run_until(end).await;
    let answers = answers.borrow();
    let each: Vec<_> =
        answers.iter().map(|(status, count)| format!("{count} × {status}")).collect();
    println!("{}", each.join(", "));
}

async fn search(address: SocketAddr, token: &str, text: &str) -> String {
    let request = format!(
        "GET /api/v1/workspaces/main/links?q={text} HTTP/1.1\r\nHost: localhost\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    let mut answer = Vec::new();
    let sent = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_end(&mut answer).await
    };
    let _ = sent.await;
    let status = answer.get(9..12).map(String::from_utf8_lossy);
    status.map_or_else(|| "closed".to_owned(), std::borrow::Cow::into_owned)
}
