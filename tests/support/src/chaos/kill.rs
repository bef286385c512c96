//! `kill -9` at random moments under 64 clients that create, edit and delete. After each
//! kill kurz starts on what is left, and every link that was touched is looked at; at the end
//! every one once more.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use futures_util::future::{join, join_all};
use kurz::clock::Stopwatch;

use super::creators::{Creator, Notes, look};
use crate::process::{Process, Program};
use crate::rng::Rng;
use crate::server::TestServer;

/// How many clients work at once.
pub const CLIENTS: u64 = 64;

/// At the end so many links are looked at once more, drawn at random when there are more.
const LAST_LOOK: usize = 1_000_000;

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub kills: u64,
    /// The server is killed so long after it began to serve: one of these, in milliseconds.
    pub after_ms: (u64, u64),
}

/// What came of it.
#[derive(Debug)]
pub struct Figures {
    pub acknowledged: u64,
    pub unknown: u64,
    pub observed: u64,
    /// From the start of the process to the first redirect, after each kill.
    pub restarts: Vec<Duration>,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut restarts = self.restarts.clone();
        restarts.sort();
        let percentile = |percent: usize| {
            let at = (restarts.len() * percent / 100).min(restarts.len() - 1);
            restarts[at]
        };
        write!(
            f,
            "{} kills: {} operations acknowledged, {} without an answer, {} looks: none lost, none wrong, \
             none twice. From the start of the process to its first answer: median {:?}, p99 {:?}, \
             worst {:?}, {} of them above 1 s.",
            restarts.len(),
            self.acknowledged,
            self.unknown,
            self.observed,
            percentile(50),
            percentile(99),
            percentile(100),
            restarts.iter().filter(|took| **took > Duration::from_secs(1)).count()
        )
    }
}

/// A kurz on the store in `folder`, which may hold links already.
pub fn program(folder: &Path) -> Program {
    TestServer::builder()
        .default_timeouts()
        .setting("KURZ_STORE", &format!("sqlite://{}", folder.join("kurz.db").display()))
        .setting("KURZ_IDLE_TIMEOUT", "10m")
        .setting("KURZ_LOG", "error")
        .process()
}

/// Kill and look, as often as the plan says. Panics with what was broken, and the seed.
pub async fn run(plan: Plan, folder: &Path, told: impl Fn(u64, Duration)) -> Figures {
    let program = program(folder);
    let notes = Notes::default();
    let mut rng = Rng::new(plan.seed);
    let mut restarts = Vec::new();
    let mut process = start(&program);
    for kill in 0..plan.kills {
        let http = process.http();
        let wait = Duration::from_millis(rng.between(plan.after_ms.0, plan.after_ms.1));
        let clients = (0..CLIENTS).map(|client| {
            let rng = rng.fork(kill * CLIENTS + client);
            let name = format!("k{kill}c{client}");
            Creator::new(&notes, vec![http.clone()], rng, name).until_gone()
        });
        let killer = async {
            tokio::time::sleep(wait).await;
            tokio::task::block_in_place(|| process.kill_9());
        };
        join(join_all(clients), killer).await;

        let watch = Stopwatch::start();
        process = start(&program);
        let http = process.http();
        http.get("/w/red/nobody-made-this").await.expect(404);
        let took = watch.elapsed();
        restarts.push(took);
        look(&http, &notes, &notes.write(|history| history.fresh()), 16).await;
        notes.write(|history| history.expect_sound("kill", plan.seed));
        told(kill + 1, took);
    }
    let http = process.http();
    let mut keys = notes.write(|history| history.keys());
    while keys.len() > LAST_LOOK {
        keys.swap_remove(rng.index(keys.len()));
    }
    look(&http, &notes, &keys, 32).await;
    tokio::task::block_in_place(|| process.kill_9());
    notes.write(|history| history.expect_sound("kill", plan.seed));
    expect_whole(&folder.join("kurz.db"));
    notes.write(|history| Figures {
        acknowledged: history.acknowledged,
        unknown: history.unknown,
        observed: history.observed,
        restarts,
    })
}

fn start(program: &Program) -> Process {
    tokio::task::block_in_place(|| program.start())
}

/// The file is sound, and no code stands there twice.
pub fn expect_whole(file: &Path) {
    let db = rusqlite::Connection::open(file).unwrap();
    let check: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let twice =
        "select count(*) from (select 1 from links group by workspace, code having count(*) > 1)";
    let twice: i64 = db.query_row(twice, [], |row| row.get(0)).unwrap();
    assert_eq!(twice, 0, "codes that stand in the store twice");
}
