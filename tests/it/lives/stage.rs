//! kurz inside the test, or its store alone, with a clock that the test moves and a cleanup that comes when it is called;
//! and a way to look into its database. On PostgreSQL the cleanup goes by the server's clock, so a
//! test there moves the rows instead.

use std::time::Duration;

use kurz::app::{Cleaned, CleanupTimes};
use kurz::clock::{Clock, Timestamp};
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::program::Program;
use kurz::store::{Holding, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::harness::http::Http;
use crate::harness::postgres::Database;

/// The grace of a staged kurz.
pub(super) const GRACE: Duration = Duration::from_mins(15);

/// Which of the two databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sqlite,
    Postgres,
}

/// A folder, and in it or beside it an empty database.
pub(super) struct Home {
    folder: TempDir,
    database: Option<Database>,
}

impl Home {
    pub(super) fn new(kind: Kind) -> Self {
        let database = (kind == Kind::Postgres).then(Database::create);
        Self { folder: tempfile::tempdir().unwrap(), database }
    }

    /// What `KURZ_STORE` is to say.
    pub(super) fn store(&self) -> String {
        match &self.database {
            Some(database) => database.url().to_owned(),
            None => format!("sqlite://{}", self.folder.path().join("kurz.db").display()),
        }
    }

    /// The settings of a kurz on it, which cleans up only when it is told to.
    pub(super) fn config(&self) -> Config {
        let env = [
            ("KURZ_STORE", self.store().as_str()),
            ("KURZ_LISTEN", "127.0.0.1:0"),
            ("KURZ_ADMIN_LISTEN", "off"),
            ("KURZ_OPEN", "on"),
            ("KURZ_THREADS", "1"),
            ("KURZ_CLEANUP_DELAY", "1d"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        Config::load(&Overrides::default(), env, self.folder.path()).unwrap()
    }

    /// The number that a query gives.
    pub(super) async fn number(&self, sql: &str) -> i64 {
        match &self.database {
            Some(database) => {
                connect(database.url()).await.query_one(sql, &[]).await.unwrap().get(0)
            }
            None => self.open().query_row(sql, [], |row| row.get(0)).unwrap(),
        }
    }

    /// Run statements behind kurz's back.
    pub(super) async fn execute(&self, sql: &str) {
        match &self.database {
            Some(database) => connect(database.url()).await.batch_execute(sql).await.unwrap(),
            None => self.open().execute_batch(sql).unwrap(),
        }
    }

    fn open(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(self.folder.path().join("kurz.db")).unwrap();
        db.busy_timeout(Duration::from_secs(30)).unwrap();
        db
    }
}

/// A connection that ends with the client.
pub(super) async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::runtime::Handle::current().spawn(connection);
    client
}

/// A running kurz.
pub(super) struct Stage {
    pub(super) home: Home,
    pub(super) clock: Clock,
    pub(super) program: Program,
}

impl Stage {
    /// Its clock stands at the real time until it is moved.
    pub(super) async fn start(kind: Kind) -> Self {
        let home = Home::new(kind);
        let clock = Clock::manual(Clock::system().now());
        Self::open(home, clock).await
    }

    /// Stop, and start again as after a reboot: nothing is left in memory.
    pub(super) async fn restart(self, at: Timestamp) -> Self {
        self.program.shutdown().await.unwrap();
        Self::open(self.home, Clock::manual(at)).await
    }

    async fn open(home: Home, clock: Clock) -> Self {
        let program = Program::start(&home.config(), clock.clone(), Entropy::os()).await.unwrap();
        Self { home, clock, program }
    }

    pub(super) fn http(&self) -> Http {
        Http::new(&format!("http://{}", self.program.address()))
    }

    /// Make a link in the workspace; its JSON.
    pub(super) async fn link(&self, workspace: &str, request: &Value) -> Value {
        let path = format!("/api/v1/workspaces/{workspace}/links");
        self.http().post(&path, request).await.expect(201).json()
    }

    /// Make a link in the workspace `team` that lives for `ttl`; its code.
    pub(super) async fn mortal(&self, url: &str, ttl: Duration) -> String {
        let expires_at = self.clock.now().plus(ttl).to_rfc3339();
        let link =
            self.link("team", &json!({ "original_url": url, "expires_at": expires_at })).await;
        link["short_code"].as_str().unwrap().to_owned()
    }

    /// What the address of a link of `team` answers.
    pub(super) async fn follow(&self, code: &str) -> u16 {
        self.http().get(&format!("/w/team/{code}")).await.status
    }

    /// Clean up now.
    pub(super) async fn clean_up(&self) -> Cleaned {
        let times = CleanupTimes {
            lock_at_least: Duration::ZERO,
            lock_at_most: Duration::from_mins(1),
            purge_grace: GRACE,
        };
        let stop = CancellationToken::new();
        self.program.app().clean_up(times, &stop).await.unwrap().expect("nobody else cleans up")
    }

    /// Let `by` pass. On PostgreSQL the rows grow older instead, and kurz starts again, since its
    /// cache knows their old times.
    pub(super) async fn pass(self, by: Duration) -> Self {
        if self.home.database.is_none() {
            self.clock.advance(by);
            return self;
        }
        let ms = by.as_millis();
        let older = format!(
            "update links set expires_at = expires_at - {ms}, expired_at = expired_at - {ms},
                 deleted_at = deleted_at - {ms}"
        );
        self.home.execute(&older).await;
        let now = self.clock.now();
        self.restart(now).await
    }
}

/// A store, and a time that passes: by hand on SQLite, by itself on PostgreSQL.
pub(super) struct Bench {
    pub(super) home: Home,
    pub(super) store: Store,
    pub(super) clock: Clock,
}

impl Bench {
    pub(super) async fn new(kind: Kind) -> Self {
        let home = Home::new(kind);
        let store = Store::open(&home.config().store).await.unwrap();
        Self { home, store, clock: Clock::manual(Clock::system().now()) }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) async fn pass(&self, by: Duration) {
        self.clock.advance(by);
        if self.home.database.is_some() {
            // The server's clock is nobody's to move.
            tokio::time::sleep(by).await;
        }
    }

    pub(super) async fn take(&self, by: &str, at_most: Duration) -> Option<Holding> {
        self.store.take_lock("cleanup", by, at_most, self.now()).await.unwrap()
    }
}

/// Each test on both databases: `name::on_sqlite` and `name::on_postgres`.
macro_rules! on_both_databases {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use crate::lives::stage::Kind;

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
pub(super) use on_both_databases;
