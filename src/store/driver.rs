//! The interface between the store and its two databases: a handful of methods, implemented by `sqlite` and
//! `postgres`. Everything above it is written once.
//!
//! Invariant: the text of a statement is a constant. [`Sql`] has no other constructor than the
//! [`statements!`] macro, so no run-time string reaches a database, and a test can prepare every
//! statement on both.

use crate::store::Error;
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::store::value::{SqlRow, SqlValue};
use kurz_core::time::Timestamp;

/// A statement: its name, for logs, and its constant text, with `$n` parameters that first appear in
/// ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sql {
    name: &'static str,
    text: &'static str,
    postgres: Option<&'static str>,
}

impl Sql {
    /// For [`statements!`] alone.
    pub(super) const fn constant(name: &'static str, text: &'static str) -> Self {
        Self { name, text, postgres: None }
    }

    /// Another text for PostgreSQL, where no text does for both: see `search_index`.
    pub(super) const fn or_on_postgres(self, text: &'static str) -> Self {
        Self { postgres: Some(text), ..self }
    }

    /// The module and the constant that declare it, such as `kurz::store::links::FIND`.
    pub(super) const fn name(self) -> &'static str {
        self.name
    }

    pub(super) const fn sqlite_text(self) -> &'static str {
        self.text
    }

    pub(super) const fn postgres_text(self) -> &'static str {
        match self.postgres {
            Some(text) => text,
            None => self.text,
        }
    }
}

/// Declare the statements of a file, and list them for [`crate::store::statements`].
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr $(, on_postgres $other:expr)?;)+) => {
        $($(#[$doc])* const $name: $crate::store::driver::Sql = $crate::store::driver::Sql::constant(
            concat!(module_path!(), "::", stringify!($name)),
            $text,
        )$(.or_on_postgres($other))?;)+
        pub(in crate::store) const STATEMENTS: &[$crate::store::driver::Sql] = &[$($name),+];
    };
}
pub(crate) use statements;

/// The constant text that begins a bulk load of one table, for the database that has such a thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkSql(&'static str);

impl BulkSql {
    /// For `copy` alone, from the same constants as its statements.
    pub(super) const fn constant(text: &'static str) -> Self {
        Self(text)
    }

    pub(super) const fn text(self) -> &'static str {
        self.0
    }
}

/// Rows on their way into one table.
#[derive(Debug)]
pub(crate) struct Load {
    pub(super) clear: Option<Step>,
    /// Reads the columns that `rows` hold, and so tells their types.
    pub(super) read: Sql,
    pub(super) write: Sql,
    pub(super) bulk: BulkSql,
    pub(super) rows: Vec<SqlRow>,
}

/// One step of an atomic batch.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) sql: Sql,
    pub(super) params: Vec<SqlValue<'static>>,
    /// The batch holds only if this step gives at least one row.
    pub(super) must_give_row: bool,
}

impl Step {
    pub(crate) fn new<'a>(sql: Sql, params: impl IntoIterator<Item = SqlValue<'a>>) -> Self {
        let params = params.into_iter().map(SqlValue::into_owned).collect();
        Self { sql, params, must_give_row: false }
    }

    /// Undo the whole batch unless this step gives a row.
    pub(crate) fn or_undo(mut self) -> Self {
        self.must_give_row = true;
        self
    }
}

/// What became of an atomic batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Committed and durable; the rows of each step. One that reads nothing back gives a row
    /// without columns if it changed anything.
    Done(Vec<Vec<SqlRow>>),
    /// Undone, because these steps gave no row though the batch asked for one.
    Undone(Vec<usize>),
}

/// A database: one of two.
#[derive(Debug)]
pub(crate) enum Db {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Db {
    /// A row by its key. On SQLite it is read right here, without changing threads, unless that would
    /// mean to wait.
    pub(crate) async fn find(
        &self,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, Error> {
        let found = match self {
            Self::Sqlite(db) => db.find(sql, params).await,
            Self::Postgres(db) => db.find(sql, params).await,
        };
        found.map_err(|error| error.in_statement(sql.name()))
    }

    /// All rows of a statement that bounds its own answer.
    pub(crate) async fn list(
        &self,
        sql: Sql,
        params: Vec<SqlValue<'_>>,
    ) -> Result<Vec<SqlRow>, Error> {
        let rows = match self {
            Self::Sqlite(db) => db.list(sql, params).await,
            Self::Postgres(db) => db.list(sql, &params).await,
        };
        rows.map_err(|error| error.in_statement(sql.name()))
    }

    /// Run the steps in order, all or none, durable once this returns. An error that no step of its own
    /// caused, such as a connection that broke, names the first.
    pub(crate) async fn batch(&self, steps: Vec<Step>) -> Result<Outcome, Error> {
        let Some(first) = steps.first().map(|step| step.sql.name()) else {
            return Ok(Outcome::Done(Vec::new()));
        };
        let outcome = match self {
            Self::Sqlite(db) => db.batch(steps).await,
            Self::Postgres(db) => db.batch(steps).await,
        };
        outcome.map_err(|error| error.in_statement(first))
    }

    /// Write many rows into one table, all or none, durable once this returns.
    pub(crate) async fn load(&self, load: Load) -> Result<(), Error> {
        let name = load.write.name();
        let loaded = match self {
            Self::Sqlite(db) => db.load(load).await,
            Self::Postgres(db) => db.load(load).await,
        };
        loaded.map_err(|error| error.in_statement(name))
    }

    /// The time, for a statement that goes by the database's clock: an SQLite database is in the
    /// process and goes by the process's, `now`; PostgreSQL gets null and reads its own.
    pub(crate) fn clock_param(&self, now: Timestamp) -> SqlValue<'static> {
        match self {
            Self::Sqlite(_) => now.into(),
            Self::Postgres(_) => SqlValue::Null,
        }
    }

    /// A batch of one step; its rows.
    pub(crate) async fn write(&self, step: Step) -> Result<Vec<SqlRow>, Error> {
        match self.batch(vec![step]).await? {
            Outcome::Done(mut rows) => Ok(rows.pop().unwrap_or_default()),
            Outcome::Undone(_) => Ok(Vec::new()),
        }
    }
}
