//! The kurz that is loaded, stopped and killed, and what its store holds.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kurz::clock::Stopwatch;
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};

pub(crate) struct Kurz {
    child: Child,
    /// `http://host:port`.
    pub(crate) base: String,
    /// How long it took until it answered, in seconds.
    pub(crate) started_in: f64,
}

impl Kurz {
    pub(crate) fn start(folder: &Path) -> Self {
        let watch = Stopwatch::start();
        let mut child = Command::new(env!("CARGO_BIN_EXE_kurz"))
            .args(["serve", "--open", "--listen", "127.0.0.1:0"])
            .env("KURZ_STORE", "sqlite://kurz.db")
            .env("KURZ_ADMIN_LISTEN", "off")
            .env("KURZ_LIMITS", "off")
            .env("KURZ_LOG", "error")
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let base =
            lines.find_map(|line| line.ok()?.strip_prefix("listening on ").map(str::to_owned));
        let base = base.expect("kurz says where it listens");
        Self { child, base, started_in: watch.elapsed().as_secs_f64() }
    }

    /// As an operator does; it must end well.
    pub(crate) fn terminate(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "kurz ended with {status}");
    }

    /// As a crash does.
    pub(crate) fn kill_9(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Kurz {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the tables say of redirects, each in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) total: u64,
    pub(crate) by_link: u64,
    pub(crate) by_hour: u64,
    pub(crate) log_rows: u64,
}

pub(crate) fn stored(folder: &Path) -> Stored {
    let db = Connection::open(folder.join("kurz.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    let number = |sql: &str| {
        let number: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
        u64::try_from(number).unwrap()
    };
    Stored {
        total: number("select count from totals where name = 'redirects'"),
        by_link: number("select coalesce(sum(redirect_count), 0) from link_stats"),
        by_hour: number("select coalesce(sum(hits), 0) from link_hours"),
        log_rows: number("select count(*) from click_log"),
    }
}
