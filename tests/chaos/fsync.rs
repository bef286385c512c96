//! In which order the server writes, syncs and answers, as the kernel sees it. Every link that
//! was acknowledged was in the write-ahead log before, and the log was synced in between.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures_util::future::join_all;
use kurz::clock::Stopwatch;
use kurz_test_support::{Process, TestServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const LINKS: usize = 120;
const AT_ONCE: usize = 8;

/// `strace` on a process that runs.
pub(crate) struct Strace {
    child: Child,
}

impl Strace {
    /// With expressions that say what it looks at, or what it lets fail.
    pub(crate) fn attach(process: &Process, expressions: &[&str], log: &Path) -> Self {
        // Pages are 4096 bytes, and strings are shown up to this length.
        let child = Command::new("strace")
            .args(["-f", "-y", "-s", "8192"])
            .args(expressions.iter().flat_map(|one| ["-e", one]))
            .arg("-o")
            .arg(log)
            .args(["-p", &process.pid().to_string()])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("strace is installed (Debian's package strace), and may trace processes");
        Self { child }
    }

    /// Let go of the process; what was seen is in the log.
    pub(crate) fn detach(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What was seen of one link.
#[derive(Debug, PartialEq, Eq)]
enum Order {
    /// Written, synced, answered.
    Right,
    /// Answered without a sync after its write.
    Early,
    /// Not all of it was seen.
    Unseen,
}

/// In which order a link was written, synced and answered. `lines` are those of `strace -f -y`.
fn order(lines: &[&str], code: &str) -> Order {
    let wal = |line: &str| line.contains("-wal>");
    let mark = format!("{code}~");
    let written = lines
        .iter()
        .position(|line| line.contains("pwrite64(") && wal(line) && line.contains(&mark));
    let answered = lines.iter().position(|line| {
        line.contains("HTTP/1.1 201 ") && line.contains(&mark) && !line.contains("pwrite64(")
    });
    let (Some(written), Some(answered)) = (written, answered) else { return Order::Unseen };
    let between = lines.get(written..answered).unwrap_or_default();
    // A sync counts once it has come back: at once, or resumed after others were seen.
    let mut waiting = Vec::new();
    for line in between {
        let thread = line.split_whitespace().next().unwrap_or_default();
        let sync = line.contains("fdatasync(") || line.contains("fsync(");
        if sync && wal(line) && line.ends_with("= 0") {
            return Order::Right;
        }
        if sync && wal(line) && line.contains("<unfinished") {
            waiting.push(thread);
        }
        let resumed = line.contains("sync resumed>") && line.ends_with("= 0");
        if resumed && waiting.contains(&thread) {
            return Order::Right;
        }
    }
    Order::Early
}

#[test]
fn an_answer_before_its_sync_is_caught() {
    let write = r#"7 pwrite64(9</a/kurz.db-wal>, "abc-1~", 4096, 32) = 4096"#;
    let sync = "7 fdatasync(9</a/kurz.db-wal>) = 0";
    let other = "7 fdatasync(8</a/kurz.db>) = 0";
    let failed = "7 fdatasync(9</a/kurz.db-wal>) = -1 EIO (Input/output error)";
    let begun = "7 fdatasync(9</a/kurz.db-wal> <unfinished ...>";
    let ended = "7 <... fdatasync resumed>) = 0";
    let elsewhere = "8 <... fdatasync resumed>) = 0";
    let answer = r#"8 writev(5<socket:[1]>, [{iov_base="HTTP/1.1 201 Created abc-1~"}], 1) = 9"#;
    let table: &[(&[&str], Order)] = &[
        (&[write, sync, answer], Order::Right),
        (&[write, begun, ended, answer], Order::Right),
        (&[sync, write, answer], Order::Early),
        (&[write, answer, sync], Order::Early),
        (&[write, other, answer], Order::Early),
        (&[write, failed, answer], Order::Early),
        (&[write, begun, answer, ended], Order::Early),
        (&[write, begun, elsewhere, answer], Order::Early),
        (&[write, sync], Order::Unseen),
        (&[sync, answer], Order::Unseen),
    ];
    for (lines, expected) in table {
        assert_eq!(order(lines, "abc-1"), *expected, "{lines:?}");
    }
}

// threats: F2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_link_is_acknowledged_before_its_log_is_synced() {
    let program = TestServer::builder().default_timeouts().process();
    let server = tokio::task::block_in_place(|| program.start());
    let log = program.folder().join("strace");
    let http = server.http();
    let make = async |code: String| {
        // The mark ends the code, so that `f-1` is not found in `f-12`.
        let body =
            json!({ "original_url": format!("https://example.com/{code}~"), "custom_code": code });
        http.post("/api/v1/workspaces/team/links", &body).await.expect(201);
    };
    make("before".to_owned()).await;
    let calls = "trace=pwrite64,fsync,fdatasync,write,writev,sendto,sendmsg";
    let strace = Strace::attach(&server, &[calls], &log);
    // It has begun once it sees something.
    let watch = Stopwatch::start();
    for n in 0.. {
        make(format!("warm-{n}")).await;
        let seen = std::fs::read_to_string(&log).unwrap_or_default();
        if seen.contains("sync(") && seen.contains("HTTP/1.1 201 ") {
            break;
        }
        assert!(watch.elapsed() < Duration::from_secs(30), "strace sees nothing: may it trace?");
    }
    // One by one, and together, so that groups are committed.
    for n in 0..LINKS / 4 {
        make(format!("alone-{n}")).await;
    }
    for n in 0..LINKS / AT_ONCE {
        join_all((0..AT_ONCE).map(|m| make(format!("group-{n}-{m}")))).await;
    }
    tokio::task::block_in_place(|| strace.detach());
    let seen = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    let lines: Vec<&str> = seen.lines().collect();
    let alone = (0..LINKS / 4).map(|n| format!("alone-{n}"));
    let group =
        (0..LINKS / AT_ONCE).flat_map(|n| (0..AT_ONCE).map(move |m| format!("group-{n}-{m}")));
    for code in alone.chain(group) {
        assert_eq!(order(&lines, &code), Order::Right, "{code}");
    }
}
