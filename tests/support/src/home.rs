//! Where a server keeps its data: a temporary folder, and in it or beside it an empty database. A test
//! that is written once runs on both databases.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::postgres::{Database, connect};

/// Which of the two databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// Each test on both databases: `name::on_sqlite` and `name::on_postgres`.
#[macro_export]
macro_rules! on_both_databases {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use $crate::Kind;

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

/// A folder, and in it or beside it an empty database.
pub struct Home {
    folder: TempDir,
    database: Option<Database>,
}

impl Home {
    pub fn new(kind: Kind) -> Self {
        let database = (kind == Kind::Postgres).then(Database::create);
        Self { folder: tempfile::tempdir().unwrap(), database }
    }

    /// The folder: an SQLite store is in it, and a server process runs in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `KURZ_STORE` is to say.
    pub fn store(&self) -> String {
        match &self.database {
            Some(database) => database.url().to_owned(),
            None => format!("sqlite://{}", self.sqlite_file().display()),
        }
    }

    /// Which database it is.
    pub fn kind(&self) -> Kind {
        if self.database.is_some() { Kind::Postgres } else { Kind::Sqlite }
    }

    /// The file of an SQLite store.
    pub fn sqlite_file(&self) -> PathBuf {
        self.folder.path().join("kurz.db")
    }

    /// Run statements behind kurz's back, as an operator or a job of another version would.
    pub async fn execute(&self, sql: &str) {
        match &self.database {
            Some(database) => connect(database.url()).await.batch_execute(sql).await.unwrap(),
            None => self.open().execute_batch(sql).unwrap(),
        }
    }

    /// The number that a query gives.
    pub async fn number(&self, sql: &str) -> i64 {
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
