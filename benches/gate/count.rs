//! One run of kurz under callgrind with a number of redirects, and the instructions of its worker.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kurz::config::{Config, Overrides};
use kurz::store::Store;
use kurz_test_support::http::Http;
use kurz_test_support::plans;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const CODE: &str = "gate-link";

/// Instructions of the one worker: the thread that speaks HTTP.
pub(crate) fn instructions(fields: &str, plan: Option<&str>, redirects: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut kurz = start(folder.path());
    let address = address(&mut kurz);
    make_link(&address);
    if let Some(plan) = plan {
        set_plan(&address, folder.path(), plan);
    }
    follow(&address, fields, redirects);
    kill_process(Pid::from_child(&kurz), Signal::TERM).unwrap();
    assert!(kurz.wait().unwrap().success(), "kurz did not end well");
    let counts: Vec<u64> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("count-"))
        .filter_map(|path| total(&path))
        .collect();
    let &[count] = counts.as_slice() else {
        panic!("{} threads speak HTTP where one should", counts.len())
    };
    count
}

fn start(folder: &Path) -> Child {
    Command::new("valgrind")
        .args(["--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=count", "-q"])
        .arg(env!("CARGO_BIN_EXE_kurz"))
        .args(["serve", "--open"])
        .env("KURZ_LISTEN", "127.0.0.1:0")
        .env("KURZ_ADMIN_LISTEN", "off")
        .env("KURZ_STORE", "sqlite://kurz.db")
        .env("KURZ_THREADS", "1")
        .env("KURZ_LOG", "error")
        // Checked at every redirect, and never reached.
        .env("KURZ_HIT_LIMIT", "1000000")
        // Emulation is slow: no timeout may close the connection.
        .env("KURZ_HEADER_TIMEOUT", "10m")
        .env("KURZ_IDLE_TIMEOUT", "10m")
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("valgrind is installed (Debian's package valgrind)")
}

fn address(kurz: &mut Child) -> String {
    let mut lines = BufReader::new(kurz.stdout.take().unwrap()).lines();
    let found =
        lines.find_map(|line| line.ok()?.strip_prefix("listening on http://").map(str::to_owned));
    found.expect("kurz says where it listens")
}

fn make_link(address: &str) {
    let body = format!(
        "{{\"original_url\":\"https://example.com/spring-sale/2026/some-page?id=1\",\"custom_code\":\"{CODE}\"}}"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

/// Give the link a plan.
fn set_plan(address: &str, folder: &Path, plan: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = format!("sqlite://{}", folder.join("kurz.db").display());
        let variables = [("KURZ_STORE".to_owned(), store)];
        let config = Config::load(&Overrides::default(), variables, folder).unwrap();
        let store = Store::open(&config.store).await.unwrap();
        let http = Http::new(&format!("http://{address}"));
        let link = json!({ "workspace": "main", "short_code": CODE });
        plans::set(&store, &http, &link, &serde_json::from_str(plan).unwrap()).await;
    });
}

/// Follow the link repeatedly on one connection.
fn follow(address: &str, fields: &str, redirects: usize) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!("GET /{CODE} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n");
    let mut answer = Vec::new();
    for _ in 0..redirects {
        stream.write_all(request.as_bytes()).unwrap();
        answer.clear();
        let mut space = [0; 2048];
        while !answer.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut space).unwrap();
            assert!(read > 0, "kurz closed the connection");
            answer.extend_from_slice(space.get(..read).unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 302"), "{}", String::from_utf8_lossy(&answer));
    }
}

/// The total of a callgrind file, if its thread ran hyper's HTTP/1.
fn total(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    if !text.contains("hyper::proto::h1") {
        return None;
    }
    let line = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
    line.trim().parse().ok()
}
