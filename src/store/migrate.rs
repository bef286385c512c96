//! Bringing a database's tables up to date: numbered files, each applied once, in order, in a
//! transaction of its own.
//!
//! Invariant: an applied file is never edited. A database that has been through a file this
//! program does not know comes from a newer kurz and is refused, not guessed at.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};
use tokio_postgres::Client;

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

const MIGRATIONS: &[Migration] = migrations!["0001_core"];

/// The number that instances agree on before they migrate one PostgreSQL database.
const ADVISORY_LOCK: i64 = 0x6b75_727a;

const HISTORY: &str =
    "create table if not exists migrations (number bigint primary key, name text not null)";
const APPLIED: &str = "select number, name from migrations order by number";

/// What a migration did: the names of the files it applied.
pub(crate) type Applied = Vec<&'static str>;

/// Bring an SQLite file up to date.
pub(crate) fn migrate_sqlite(db: &mut Connection, path: &Path) -> Result<Applied, Error> {
    let failed = |error| sqlite::failed(&error);
    // Immediate: a second process waits here and then finds the work done.
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    tx.execute_batch(HISTORY).map_err(failed)?;
    let history = {
        let mut statement = tx.prepare(APPLIED).map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(Iterator::collect).map_err(failed)?
    };
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
    // Held to the end of the transaction; others wait longer than one statement may take.
    tx.batch_execute("set local statement_timeout = 0").await.map_err(failed)?;
    tx.execute("select pg_advisory_xact_lock($1)", &[&ADVISORY_LOCK]).await.map_err(failed)?;
    tx.batch_execute(HISTORY).await.map_err(failed)?;
    let rows = tx.query(APPLIED, &[]).await.map_err(failed)?;
    let history = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let mut applied = Vec::new();
    for (number, migration) in pending(history, "the PostgreSQL database")? {
        tx.batch_execute(migration.postgres).await.map_err(failed)?;
        tx.execute("insert into migrations values ($1, $2)", &[&number, &migration.name])
            .await
            .map_err(failed)?;
        applied.push(migration.name);
    }
    tx.commit().await.map_err(failed)?;
    Ok(applied)
}

/// What is still to be done after `history`, or why nothing can be.
fn pending(
    history: Vec<(i64, String)>,
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
