//! Bringing a database's tables up to date: numbered files, each applied once, in order, in a
//! transaction of its own.
//!
//! Invariant: an applied file is never edited. A database that has been through a file this
//! program does not know comes from a newer kurz and is refused, not guessed at.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::store::{Error, postgres, sqlite};

/// One numbered step, for each database.
struct Migration {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migrations {
    ($($name:literal),+ $(,)?) => {
        &[$(Migration {
            name: $name,
            sqlite: include_str!(concat!("../../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $name, ".sql")),
        }),+]
    };
}

const MIGRATIONS: &[Migration] = migrations![
    "0001_core",
    "0002_people",
    "0003_lives",
    "0004_clicks",
    "0005_pages",
    "0006_abuse",
    "0007_checks",
    "0008_names",
    "0009_search",
    "0010_members",
    "0011_hosts_and_codes",
    "0012_http_status_and_synced_urls",
    "0013_reservations",
    "0014_events",
    "0015_plans",
    "0016_link_fields",
];

/// The number that instances agree on before they migrate one PostgreSQL database.
const ADVISORY_LOCK: i64 = 0x6b75_727a;

const HISTORY: &str =
    "create table if not exists migrations (number bigint primary key, name text not null)";
const APPLIED: &str = "select number, name from migrations order by number";

/// What errors call the database that has no file.
const POSTGRES: &str = "the PostgreSQL database";

/// What a migration did: the names of the files it applied.
pub(crate) type Applied = Vec<&'static str>;

/// Bring an SQLite file up to date.
pub(crate) fn migrate_sqlite(db: &mut Connection, path: &Path) -> Result<Applied, Error> {
    let failed = |error| sqlite::failed(&error);
    // Immediate: a second process waits here and then finds the work done.
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    tx.execute_batch(HISTORY).map_err(failed)?;
    let history = history_sqlite(&tx).map_err(failed)?;
    let mut applied = Vec::new();
    for (number, migration) in pending(history, &path.display().to_string())? {
        tx.execute_batch(migration.sqlite).map_err(failed)?;
        tx.execute("insert into migrations values (?1, ?2)", (number, migration.name))
            .map_err(failed)?;
        applied.push(migration.name);
    }
    tx.commit().map_err(failed)?;
    Ok(applied)
}

/// Bring a PostgreSQL database up to date, one instance at a time.
pub(crate) async fn migrate_postgres(client: &mut Client) -> Result<Applied, Error> {
    let failed = |error| postgres::failed(&error);
    let tx = client.transaction().await.map_err(failed)?;
    // The lock is held to the end of the transaction; others wait longer than one statement may
    // take. That a table is there already is no news.
    let session = "set local statement_timeout = 0; set local client_min_messages = warning";
    tx.batch_execute(session).await.map_err(failed)?;
    tx.execute("select pg_advisory_xact_lock($1)", &[&ADVISORY_LOCK]).await.map_err(failed)?;
    tx.batch_execute(HISTORY).await.map_err(failed)?;
    let history = history_postgres(tx.client()).await.map_err(failed)?;
    let mut applied = Vec::new();
    for (number, migration) in pending(history, POSTGRES)? {
        tx.batch_execute(migration.postgres).await.map_err(failed)?;
        tx.execute("insert into migrations values ($1, $2)", &[&number, &migration.name])
            .await
            .map_err(failed)?;
        applied.push(migration.name);
    }
    tx.commit().await.map_err(failed)?;
    Ok(applied)
}

/// What an SQLite file has been through and what is still to be done, without doing it.
pub(crate) fn inspect_sqlite(db: &Connection, path: &Path) -> Result<SchemaState, Error> {
    let failed = |error| sqlite::failed(&error);
    let exists = db.table_exists(None, "migrations").map_err(failed)?;
    let history = if exists { history_sqlite(db).map_err(failed)? } else { Vec::new() };
    SchemaState::after(history, &path.display().to_string())
}

/// What a PostgreSQL database has been through and what is still to be done, without doing it.
pub(crate) async fn inspect_postgres(client: &Client) -> Result<SchemaState, Error> {
    let history = match history_postgres(client).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Vec::new(),
        history => history.map_err(|error| postgres::failed(&error))?,
    };
    SchemaState::after(history, POSTGRES)
}

/// The numbers and names of the applied files.
type History = Vec<(i64, String)>;

fn history_sqlite(db: &Connection) -> rusqlite::Result<History> {
    let mut statement = db.prepare(APPLIED)?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

async fn history_postgres(client: &Client) -> Result<History, tokio_postgres::Error> {
    let rows = client.query(APPLIED, &[]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// How far the tables of a store have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    Missing,
    Behind(Vec<&'static str>),
    Current,
}

impl SchemaState {
    fn after(history: History, place: &str) -> Result<Self, Error> {
        if history.is_empty() {
            return Ok(Self::Missing);
        }
        let names: Vec<_> = pending(history, place)?.map(|(_, migration)| migration.name).collect();
        Ok(if names.is_empty() { Self::Current } else { Self::Behind(names) })
    }
}

/// What is still to be done after `history`, or why nothing can be.
fn pending(
    history: History,
    place: &str,
) -> Result<impl Iterator<Item = (i64, &'static Migration)>, Error> {
    let known = (1i64..).zip(MIGRATIONS);
    let done = history.len();
    for (at, (number, name)) in history.into_iter().enumerate() {
        match MIGRATIONS.get(at) {
            Some(expected) if expected.name == name => {}
            _ => {
                return Err(Error::Newer(format!(
                    "{place} was made by a newer kurz (its tables include step {number}, \
                     {name}, which this one does not know): start that version, or restore \
                     a backup made with this one"
                )));
            }
        }
    }
    Ok(known.skip(done))
}

/// The texts of all steps before the one of this name, and of that step, for SQLite and PostgreSQL.
#[cfg(test)]
pub(super) fn split_before(name: &str) -> ((String, String), (String, String)) {
    let at = MIGRATIONS.iter().position(|one| one.name == name).expect("the step exists");
    let join = |steps: &[Migration]| -> (String, String) {
        (
            steps.iter().map(|one| one.sqlite).collect(),
            steps.iter().map(|one| one.postgres).collect(),
        )
    };
    (join(&MIGRATIONS[..at]), join(&MIGRATIONS[at..=at]))
}

/// The texts of all steps after the one of this name.
#[cfg(test)]
pub(super) fn steps_after(name: &str) -> (String, String) {
    let at = MIGRATIONS.iter().position(|one| one.name == name).expect("the step exists");
    let rest = MIGRATIONS.get(at + 1..).unwrap_or_default();
    (rest.iter().map(|one| one.sqlite).collect(), rest.iter().map(|one| one.postgres).collect())
}
