//! The databases: SQLite and PostgreSQL, empty or with a million links, with a kurz on each. Everything is removed at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kurz::app::{App, WorkspacePatch};
use kurz::clock::Clock;
use kurz::config::{Config, Overrides};
use kurz::entropy::Entropy;
use kurz::server::run::RunningServer;
use kurz_core::account::Caller;
use kurz_core::link::Strategy;
use rusqlite::Connection;
use rusqlite::backup::Backup;
use tokio_postgres::NoTls;

use crate::input::{WORKSPACE, workspace};
use crate::raw::Raw;

/// How many links a full table holds before a round.
pub(crate) const FULL: usize = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A folder on a disk.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    filesystem: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo made it");
        let filesystem = filesystem(folder.path());
        assert_ne!(filesystem, "tmpfs", "a sync costs nothing in memory: build on a disk");
        Self { folder, filesystem }
    }

    pub(crate) fn describe(&self) -> String {
        format!(
            "SQLite: synchronous=FULL on {}. PostgreSQL: as ./scripts/servers starts it, with \
             fsync and synchronous_commit off.\nMedians of {} interleaved rounds.\n",
            self.filesystem,
            crate::ROUNDS
        )
    }

    /// A path in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A kurz on a fresh store called `name`, with the workspace in it.
    pub(crate) async fn fresh(&self, kind: Kind, name: &str) -> Kurz {
        let kurz = match kind {
            Kind::Sqlite => Kurz::start(&sqlite_url(&self.file(name))).await,
            Kind::Postgres => Kurz::start(&create_database(name).await).await,
        };
        let patch =
            WorkspacePatch { strategy: Some(Strategy::Deterministic), ..Default::default() };
        kurz.app()
            .create_workspace(&Caller::OPEN, workspace(), &patch)
            .await
            .expect("the store is fresh");
        kurz
    }

    /// A migrated SQLite file with `links` links that nobody has open.
    pub(crate) async fn sqlite_file(&self, name: &str, links: usize) -> PathBuf {
        self.fresh(Kind::Sqlite, name).await.stop().await;
        Raw::open(&self.file(name)).fill(links);
        self.file(name)
    }

    /// A PostgreSQL database with `links` links; its address.
    pub(crate) async fn postgres_database(&self, name: &str, links: usize) -> String {
        self.fresh(Kind::Postgres, name).await.stop().await;
        let url = database_url(name);
        let client = connect(&url).await;
        let fill = format!(
            "insert into links (id, workspace, code, strategy, target, canonical_hash,
                 redirect_status, created_at, updated_at, main_since, version)
             select i, '{WORKSPACE}', left(md5(i::text), 12), 'deterministic',
                 'https://www.example.com/filled/' || i || '/' || md5(i::text) || md5(i::text),
                 sha256(i::text::bytea), 302, i, i, i, 1
             from generate_series(1, {links}) i;
             update counters set next = {links} + 1 where name = 'link';
             analyze; checkpoint"
        );
        client.batch_execute(&fill).await.expect("the tables are kurz's");
        url
    }
}

/// A running kurz.
pub(crate) struct Kurz {
    program: RunningServer,
    file: Option<PathBuf>,
}

impl Kurz {
    pub(crate) async fn start(store: &str) -> Self {
        let settings = [
            ("KURZ_STORE", store),
            ("KURZ_OPEN", "on"),
            ("KURZ_LIMITS", "off"),
            ("KURZ_LISTEN", "127.0.0.1:0"),
            ("KURZ_ADMIN_LISTEN", "off"),
            // No connection may time out on a busy machine.
            ("KURZ_HEADER_TIMEOUT", "10m"),
            ("KURZ_BODY_TIMEOUT", "1h"),
            ("KURZ_IDLE_TIMEOUT", "1h"),
        ];
        let settings = settings.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let nowhere = Path::new("/nonexistent");
        let config = Config::load(&Overrides::default(), settings, nowhere).expect("within bounds");
        let program = RunningServer::start(&config, Clock::system(), Entropy::os()).await;
        let file = store.strip_prefix("sqlite://").map(PathBuf::from);
        Self { program: program.expect("kurz starts"), file }
    }

    pub(crate) async fn on_file(path: &Path) -> Self {
        Self::start(&sqlite_url(path)).await
    }

    pub(crate) fn app(&self) -> &Arc<App> {
        self.program.app()
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.program.address()
    }

    /// Stop it, and wait until its files are closed: the writer's last checkpoint must not fall
    /// into another round.
    pub(crate) async fn stop(self) {
        self.program.shutdown().await.expect("there are no counts to write");
        if let Some(file) = self.file {
            while wal(&file).exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

/// The log beside an SQLite file; it goes when the last connection closes.
fn wal(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Copy a database that nobody writes to.
pub(crate) fn copy(from: &Path, to: &Path) {
    let from = Connection::open(from).expect("the file is a database");
    let mut to = Connection::open(to).expect("the folder is writable");
    let backup = Backup::new(&from, &mut to).expect("two different files");
    backup.step(-1).expect("the disk has room");
}

fn sqlite_url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

/// The type of the file system that holds `path`, from the kernel's list of mounts.
fn filesystem(path: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let holds = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (at, kind) = (fields.next()?, fields.next()?);
        path.starts_with(at).then(|| (at.len(), kind.to_owned()))
    });
    holds.max_by_key(|(length, _)| *length).map_or_else(|| "a disk".to_owned(), |(_, kind)| kind)
}

async fn create_database(name: &str) -> String {
    let client = connect(server_url().as_str()).await;
    let create = format!("create database {name} template template0 strategy file_copy");
    client.batch_execute(&create).await.expect("the superuser may create a database");
    database_url(name)
}

fn database_url(name: &str) -> String {
    let mut url = server_url();
    url.set_path(name);
    url.into()
}

fn server_url() -> url::Url {
    #[expect(clippy::disallowed_methods, reason = "the command that starts the servers names them")]
    let text = std::env::var("TEST_POSTGRES_URL")
        .expect("run ./scripts/with-servers cargo bench --bench creation");
    text.parse().expect("TEST_POSTGRES_URL is a URL")
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it answers");
    tokio::runtime::Handle::current().spawn(connection);
    client
}
