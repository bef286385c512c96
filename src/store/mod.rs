//! The store: the only module that knows SQL. Two databases below, one set of statements above.
//!
//! `driver` is the seam, `sqlite` and `postgres` stand behind it, `migrate` keeps the tables up to
//! date; each other file holds the statements of one concern, each of them once.

mod account_deletion;
mod aliases;
mod analytics_links;
mod audit;
mod backup;
mod claims;
mod cleanup;
mod clicks;
mod copy;
mod counters;
mod disable;
mod driver;
mod edit;
mod error;
mod events;
mod health;
mod insert;
mod inspect;
mod instances;
mod invitations;
mod keys;
mod link_columns;
mod links;
mod list;
mod list_scope;
mod list_sort;
mod list_statements;
mod listen;
mod live_rows;
mod locks;
mod members;
mod migrate;
mod pending_hosts;
mod plans;
mod postgres;
mod redirect_lookup;
mod replica;
mod reports;
mod reservations;
mod row_checksum;
mod search_index;
mod secrets;
mod serve_lock;
mod sessions;
mod sqlite;
mod sqlite_readers;
mod statements;
mod store_file;
mod sync;
mod tags;
mod text;
mod tls;
mod users;
mod value;
mod verify;
mod wal;
mod workspaces;

#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod tests;

pub use account_deletion::AccountMark;
pub use aliases::{AliasAdded, MOST_ALIASES, NewAlias};
pub use audit::{AuditQuery, AuditRow, NewAuditEntry, Subject};
pub use backup::backup;
pub use claims::Claim;
pub use cleanup::LinkAddress;
pub use clicks::{LogRow, LoggedEvents, PeriodClicks, PlatformTotals, WriteSeq};
pub use copy::{Checksum, Progress};
pub use edit::{EditOutcome, LinkEdit, Restored};
pub use error::Error;
pub use events::{
    AnalyticsShare, BlockKey, DaySumRow, EventColumn, EventDay, EventLogRow, EventSizes, EventTask,
    EventTaskKind, LINKS_AT_ONCE, LinkMode, NewEventBlock, SmallBlock, VisitorPeriodKey,
    WorkspaceKeeping, WorkspacePrivacy,
};
pub use health::{CheckResult, DueCheck};
pub use insert::{Inserted, InsertedLink, MonthlyLinkLimit, NewLink};
pub use instances::Instance;
pub use invitations::{Accepted, Invitation, Invited, NewInvitation};
pub use keys::{ApiKey, KeyInsert};
pub use links::CODES_AT_ONCE;
pub use list::{Archived, ListQuery, ListedLinks};
pub use list_scope::ListScope;
pub use list_sort::{Position, Sort, SortKey};
pub use listen::{Listening, MOST_BYTES};
pub use locks::HeldLock;
pub use members::{Member, MemberChange};
pub use migrate::SchemaState;
pub use pending_hosts::{HostAdded, PendingHost};
pub use plans::{ListedPlan, TakenUses, WorkspacePlan};
pub use redirect_lookup::RedirectRow;
pub use reports::{NewReport, Report, ReportBounds, Reported};
pub use reservations::QuotaMembership;
pub use search_index::add_search_function;
pub use serve_lock::ServeLock;
pub use sessions::BrowserSession;
pub use store_file::exposed_files;
pub use sync::{SyncOutcome, SyncedLink};
pub use tags::{TagChange, TagCount};
pub use users::{Registered, User};
pub use verify::verify;
pub use workspaces::{Host, HostUrls, Workspace, WorkspaceAdded};

use std::path::Path;

use crate::config::{StoreConfig, StoreUrl};
use kurz_core::link::AddressKey;

use deadpool_postgres::Object;

use driver::Db;
use postgres::Postgres;
use replica::Replica;
use sqlite::Sqlite;

/// With less room on the disk no events are written: the write-ahead log and links need it.
const ROOM_FOR_EVENTS: u64 = 128 << 20;

#[derive(Debug)]
pub struct Store {
    db: Db,
    replica: Option<Replica>,
}

impl Store {
    /// Open a store and bring its tables up to date.
    pub async fn open(config: &StoreConfig) -> Result<Self, Error> {
        Ok(Self::migrate(config).await?.0)
    }

    /// Open a store that is there already: only a server and the commands that fill a store make one.
    pub async fn open_existing(config: &StoreConfig) -> Result<Self, Error> {
        if Self::inspect(config).await? == SchemaState::Missing {
            return Err(missing(&config.url));
        }
        Self::open(config).await
    }

    /// The same, and the names of the steps that brought it up to date.
    pub async fn migrate(config: &StoreConfig) -> Result<(Self, Vec<&'static str>), Error> {
        let replica = match &config.replica {
            Some(StoreUrl::Postgres(url)) => Some(Replica::new(Postgres::pool(url, config)?)),
            _ => None,
        };
        match &config.url {
            StoreUrl::Sqlite(path) => {
                let opened = |error| name_file(path, error);
                ServeLock::inspect(path)?;
                let path = &store_file::ensure(path)
                    .map_err(|error| opened(Error::Unavailable(error.to_string())))?;
                let mut writer = sqlite::connect_writer(path).map_err(opened)?;
                let applied = migrate::migrate_sqlite(&mut writer, path).map_err(opened)?;
                let db = Sqlite::start(path, writer, config).map_err(opened)?;
                Ok((Self { db: Db::Sqlite(db), replica }, applied))
            }
            StoreUrl::Postgres(url) => {
                let (db, mut client) = connect_postgres(url, config).await?;
                let applied = migrate::migrate_postgres(&mut client).await?;
                drop(client);
                Ok((Self { db: Db::Postgres(db), replica }, applied))
            }
        }
    }

    /// Whether an SQLite file is still where it was opened.
    pub async fn check_file(&self) -> Result<(), Error> {
        let Db::Sqlite(db) = &self.db else { return Ok(()) };
        let file = db.file().clone();
        let checked = tokio::task::spawn_blocking(move || file.check()).await;
        checked.map_err(|error| Error::Unavailable(error.to_string()))?
    }

    /// Whether the database answers, and takes writes if it refused the last one.
    pub async fn ping(&self) -> Result<(), Error> {
        self.check_file().await?;
        if matches!(&self.db, Db::Sqlite(db) if db.is_failing()) {
            // Something must change: SQLite writes nothing that is as it was. A gap does no harm.
            return self.take_numbers("writer", 1).await.map(|_| ());
        }
        self.next_number("link").await.map(|_| ())
    }

    /// Whether there is room for more than links and counts. PostgreSQL says so only when it is full.
    pub fn has_room_for_events(&self) -> bool {
        let Db::Sqlite(db) = &self.db else { return true };
        db.file().free_bytes().is_none_or(|free| free >= ROOM_FOR_EVENTS)
    }

    /// Whether no other process can use it at the same time.
    pub const fn is_single_process(&self) -> bool {
        matches!(self.db, Db::Sqlite(_))
    }

    /// Keep idle connections open, so that the next request need not wait for one.
    pub async fn keep_connections_open(&self) {
        if let Db::Postgres(db) = &self.db {
            db.keep_connections_open().await;
        }
        if let Some(replica) = &self.replica {
            replica.db.keep_connections_open().await;
        }
    }

    /// At the end of a server: move the write-ahead log of an SQLite store into its file.
    pub async fn checkpoint(&self) {
        if let Db::Sqlite(db) = &self.db {
            db.checkpoint().await;
        }
    }

    /// What is behind `key` changed: a replica may not know yet.
    pub fn changed(&self, key: &AddressKey<'_>) {
        if let Some(replica) = &self.replica {
            replica.changed(key);
        }
    }

    /// Anything may have changed.
    pub fn all_changed(&self) {
        if let Some(replica) = &self.replica {
            replica.all_changed();
        }
    }

    /// The name of the database's kind, for logs and messages.
    pub const fn kind(&self) -> &'static str {
        match self.db {
            Db::Sqlite(_) => "SQLite",
            Db::Postgres(_) => "PostgreSQL",
        }
    }
}

/// A pool, and its first connection, which shows that the server answers.
async fn connect_postgres(url: &str, config: &StoreConfig) -> Result<(Postgres, Object), Error> {
    let db = Postgres::pool(url, config)?;
    let client = db.connection().await.map_err(|error| {
        Error::Open(format!("{error}; check that PostgreSQL runs and that KURZ_STORE names it"))
    })?;
    Ok((db, client))
}

/// There is no store where one is needed.
fn missing(url: &StoreUrl) -> Error {
    let place = match url {
        StoreUrl::Sqlite(_) => url.absolute(),
        StoreUrl::Postgres(_) => {
            return Error::Open(format!(
                "there is no store at {url}: the database has no tables of kurz; name another with \
                 --store or KURZ_STORE, or make one with `kurz serve` or `kurz migrate`"
            ));
        }
    };
    Error::Open(format!(
        "there is no store at {place}: run this in the folder of the store, or name it with --store or \
         KURZ_STORE; `kurz serve` and `kurz migrate` make a new one"
    ))
}

/// Say which file an error is about, and what to do.
fn name_file(path: &Path, error: Error) -> Error {
    let path = path.display();
    match error {
        Error::Unavailable(text) if text.contains("locked") => Error::Open(format!(
            "the store {path} is locked by another program ({text}): stop that program first"
        )),
        Error::Unavailable(text) => Error::Open(format!(
            "cannot open the store {path}: {text}; check that its folder exists and is writable"
        )),
        Error::Corrupt(text) => Error::Open(format!(
            "the store {path} is not a healthy SQLite file ({text}): restore a backup \
             (`kurz backup --help` says how)"
        )),
        other => other,
    }
}
