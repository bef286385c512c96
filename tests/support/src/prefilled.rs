//! A store with many links, made fast: rows go into the table in the order of their numbers, without
//! its indexes, which are then made again from sorted keys. The tables are kurz's own, from its
//! migrations. Index pages are full then, as after a `vacuum`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kurz::clock::{Clock, Stopwatch};
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use kurz_core::code::{WorkspaceId, canonicalise, deterministic};
use rusqlite::{Connection, params};

/// The workspace of all links.
pub const WORKSPACE: &str = "bench";

/// Any time will do, as long as it grows with the number.
const CREATED_AT: i64 = 1_790_000_000_000;

pub fn workspace() -> WorkspaceId {
    WorkspaceId::parse(WORKSPACE).unwrap()
}

/// About 100 bytes, no two alike.
pub fn url(number: usize) -> String {
    format!(
        "https://www.example.com/articles/{number:010}/a-title-of-some-words?page=2&source=mail"
    )
}

/// The settings of a kurz on `file`.
pub fn config(file: &Path) -> Config {
    let settings = [
        ("KURZ_STORE", format!("sqlite://{}", file.display())),
        ("KURZ_LISTEN", "127.0.0.1:0".to_owned()),
        ("KURZ_ADMIN_LISTEN", "off".to_owned()),
        ("KURZ_OPEN", "on".to_owned()),
        ("KURZ_LIMITS", "off".to_owned()),
    ];
    let settings = settings.map(|(name, text)| (name.to_owned(), text));
    Config::load(&Overrides::default(), settings, Path::new("/nonexistent")).unwrap()
}

/// A runtime as the program has one beside its workers.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The store with `links` links, which is made unless it is there from a run before.
pub fn filled(folder: &Path, links: usize) -> PathBuf {
    let path = folder.join(format!("{links}.db"));
    if path.exists() {
        return path;
    }
    let watch = Stopwatch::start();
    let making = folder.join("making.db");
    for left in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{left}", making.display()));
    }
    runtime().block_on(async {
        let program = RunningServer::start(&config(&making), Clock::system(), Entropy::os()).await;
        program.unwrap().shutdown().await.unwrap();
    });
    fill(&making, links);
    fs::rename(&making, &path).unwrap();
    eprintln!("{links} links were made in {:.0} s", watch.elapsed().as_secs_f64());
    path
}

fn fill(path: &Path, links: usize) {
    let db = Connection::open(path).unwrap();
    // Refused while the program's last thread still closes the file.
    while db.execute_batch("pragma journal_mode = delete").is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    db.execute_batch("pragma synchronous = off; pragma cache_size = -1000000").unwrap();
    let indexes: Vec<(String, String)> = db
        .prepare("select name, sql from sqlite_master where type = 'index' and tbl_name = 'links' and sql is not null")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (name, _) in &indexes {
        db.execute_batch(&format!("drop index {name}")).unwrap();
    }
    db.execute_batch("begin").unwrap();
    db.execute(
        "insert into workspaces (id, strategy, created_at, updated_at) values (?1, 'deterministic', 1, 1)",
        [WORKSPACE],
    )
    .unwrap();
    insert(&db, links);
    let next = i64::try_from(links).unwrap() + 1;
    db.execute("update counters set next = ?1 where name = 'link'", [next]).unwrap();
    db.execute_batch("commit").unwrap();
    for (_, sql) in &indexes {
        db.execute_batch(sql).unwrap();
    }
    db.execute_batch("pragma journal_mode = wal").unwrap();
}

fn insert(db: &Connection, links: usize) {
    let mut insert = db
        .prepare(
            "insert into links (id, workspace, code, strategy, target, canonical_hash,
                 redirect_status, created_at, updated_at, main_since, version)
             values (?1, ?2, ?3, 'deterministic', ?4, ?5, 302, ?6, ?6, ?6, 1)",
        )
        .unwrap();
    let workspace = workspace();
    for number in 1..=links {
        let target = url(number);
        let canonical = canonicalise(&target).unwrap();
        let code = deterministic::code(&canonical, &workspace, 0);
        let id = i64::try_from(number).unwrap();
        let hash: &[u8] = &canonical.sha256();
        insert
            .execute(params![id, WORKSPACE, code.as_str(), target, hash, CREATED_AT + id])
            .unwrap();
    }
}
