//! kurz on a database of its own: as the process its users run, or inside the test with a clock and
//! random bytes that the test chooses. A test that is written once runs on both databases.

use std::path::PathBuf;
use std::sync::Arc;

use kurz::clock::Clock;
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run;
use kurz_core::time::Timestamp;
use tempfile::TempDir;

use super::http::Http;
use super::postgres::{Database, connect};
use super::process::{Process, Program};

/// Which of the two databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// Each test on both databases: `name::on_sqlite` and `name::on_postgres`.
macro_rules! on_both_databases {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use crate::harness::instance::Kind;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                super::$name(Kind::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                super::$name(Kind::Postgres).await;
            }
        }
    )+};
}
pub(crate) use on_both_databases;

/// A folder, and in it or beside it an empty database.
pub(crate) struct Home {
    folder: TempDir,
    database: Option<Database>,
}

impl Home {
    pub(crate) fn new(kind: Kind) -> Self {
        let database = (kind == Kind::Postgres).then(Database::create);
        Self { folder: tempfile::tempdir().unwrap(), database }
    }

    /// What `KURZ_STORE` is to say.
    pub(crate) fn store(&self) -> String {
        match &self.database {
            Some(database) => database.url().to_owned(),
            None => format!("sqlite://{}", self.sqlite_file().display()),
        }
    }

    /// Which database it is.
    pub(crate) fn kind(&self) -> Kind {
        if self.database.is_some() { Kind::Postgres } else { Kind::Sqlite }
    }

    /// The file of an SQLite store.
    pub(crate) fn sqlite_file(&self) -> PathBuf {
        self.folder.path().join("kurz.db")
    }

    /// Run statements behind kurz's back, as an operator or a job of another version would.
    pub(crate) async fn execute(&self, sql: &str) {
        match &self.database {
            Some(database) => connect(database.url()).await.batch_execute(sql).await.unwrap(),
            None => self.open().execute_batch(sql).unwrap(),
        }
    }

    /// The number that a query gives.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        match &self.database {
            Some(database) => {
                connect(database.url()).await.query_one(sql, &[]).await.unwrap().get(0)
            }
            None => self.open().query_row(sql, [], |row| row.get(0)).unwrap(),
        }
    }

    fn open(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(self.sqlite_file()).unwrap();
        db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
        db
    }
}

/// On a busy machine a test may be slow between two requests, and its connections must not be closed
/// under it; nor should each test open more connections to the database than it needs.
const PATIENT: [(&str, &str); 4] = [
    ("KURZ_HEADER_TIMEOUT", "10m"),
    ("KURZ_BODY_TIMEOUT", "10m"),
    ("KURZ_STATEMENT_TIMEOUT", "1m"),
    ("KURZ_POOL_SIZE", "4"),
];

/// A `kurz serve --open` process.
pub(crate) struct Served {
    pub(crate) home: Arc<Home>,
    program: Program,
    process: Process,
}

impl Served {
    pub(crate) fn start(kind: Kind) -> Self {
        Self::start_with(kind, &[])
    }

    /// With settings, `KURZ_*`.
    pub(crate) fn start_with(kind: Kind, settings: &[(&str, &str)]) -> Self {
        let home = Arc::new(Home::new(kind));
        let mut program = Program::serve(&["--open"]).env("KURZ_STORE", &home.store());
        for (name, value) in PATIENT.iter().chain(settings) {
            program = program.env(name, value);
        }
        let process = program.start();
        Self { home, program, process }
    }

    /// A client of it.
    pub(crate) fn http(&self) -> Http {
        Http::new(self.process.base_url())
    }

    /// A client of its admin address.
    pub(crate) fn admin(&self) -> Http {
        Http::new(&self.process.admin_url())
    }

    /// `http://host:port`.
    pub(crate) fn base_url(&self) -> &str {
        self.process.base_url()
    }

    /// Wait until it has written a line that contains `text`.
    pub(crate) fn wait_for_log(&self, text: &str) {
        self.process.wait_for_log(text);
    }

    /// End it as an operator does, expect that it ended well, and start it again on the same store.
    pub(crate) fn restart(self) -> Self {
        let Self { home, program, process } = self;
        let (status, log) = process.terminate();
        assert!(status.success(), "it ended with {status}; it wrote:\n{log}");
        let process = program.start();
        Self { home, program, process }
    }

    /// End it as an operator does, and say how to start it again.
    pub(crate) fn terminate(self) -> Stopped {
        let Self { home, program, process } = self;
        let (status, log) = process.terminate();
        assert!(status.success(), "it ended with {status}; it wrote:\n{log}");
        Stopped { home, program }
    }

    /// End it as a crash does.
    pub(crate) fn kill_9(self) -> Stopped {
        let Self { home, program, process } = self;
        process.kill_9();
        Stopped { home, program }
    }
}

/// A process that has ended, and its store.
pub(crate) struct Stopped {
    home: Arc<Home>,
    program: Program,
}

impl Stopped {
    pub(crate) fn start(self) -> Served {
        let process = self.program.start();
        Served { home: self.home, program: self.program, process }
    }
}

/// The instant at which the clock of a [`Staged`] kurz stands first: 2026-03-15T12:00:00Z.
pub(crate) const NOON: Timestamp = Timestamp::from_ms(1_773_576_000_000);

/// kurz inside the test, with a clock that the test moves and bytes that come in a known order.
pub(crate) struct Staged {
    pub(crate) home: Home,
    pub(crate) clock: Clock,
    config: Config,
    program: run::RunningServer,
}

impl Staged {
    pub(crate) async fn start(kind: Kind) -> Self {
        Self::start_with(kind, &[]).await
    }

    /// With settings, `KURZ_*`.
    pub(crate) async fn start_with(kind: Kind, settings: &[(&str, &str)]) -> Self {
        let home = Home::new(kind);
        let fixed = [
            ("KURZ_STORE", home.store()),
            ("KURZ_LISTEN", "127.0.0.1:0".to_owned()),
            ("KURZ_ADMIN_LISTEN", "off".to_owned()),
            ("KURZ_OPEN", "on".to_owned()),
            ("KURZ_THREADS", "2".to_owned()),
            ("KURZ_LIMITS", "off".to_owned()),
        ];
        let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value));
        let given = PATIENT.iter().chain(settings);
        let given = given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let nowhere = tempfile::tempdir().unwrap();
        let config = Config::load(&Overrides::default(), fixed.chain(given), nowhere.path());
        let config = config.unwrap();
        let clock = Clock::manual(NOON);
        let program = run::RunningServer::start(&config, clock.clone(), entropy()).await.unwrap();
        Self { home, clock, config, program }
    }

    /// A client of it.
    pub(crate) fn http(&self) -> Http {
        Http::new(&self.base_url())
    }

    /// `http://host:port`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.program.address())
    }

    /// What it does, without HTTP.
    pub(crate) fn app(&self) -> &Arc<kurz::app::App> {
        self.program.app()
    }

    /// Its store, opened once more, as another process would.
    pub(crate) async fn open_store(&self) -> kurz::store::Store {
        kurz::store::Store::open(&self.config.store).await.unwrap()
    }

    /// Stop it, which writes everything down, and start it again on the same store.
    pub(crate) async fn restart(self) -> Self {
        let Self { home, clock, config, program } = self;
        program.shutdown().await.unwrap();
        let program = run::RunningServer::start(&config, clock.clone(), entropy()).await.unwrap();
        Self { home, clock, config, program }
    }

    /// Stop it.
    pub(crate) async fn stop(self) {
        self.program.shutdown().await.unwrap();
    }
}

/// Bytes in a known order: two kurz that are asked the same give the same random codes.
fn entropy() -> Entropy {
    let state = std::sync::Mutex::new(0x9e37_79b9_7f4a_7c15_u64);
    Entropy::from_fn(move |bytes| {
        let mut state = state.lock().unwrap();
        for byte in bytes {
            // Xorshift: no more than well mixed.
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *byte = state.to_be_bytes()[0];
        }
    })
}
