//! The seam between kurz and its two databases: a handful of methods, implemented by `sqlite` and
//! `postgres`. Everything above it is written once.
//!
//! Invariant: the text of a statement is a constant. [`Sql`] has no other constructor than the
//! [`statements!`] macro, so no run-time string reaches a database, and a test can prepare every
//! statement on both.

use crate::store::Error;
use crate::store::postgres::Postgres;
use crate::store::sqlite::Sqlite;
use crate::store::value::{Row, Value};
use kurz_core::time::Timestamp;

/// The constant text of a statement, with `$n` parameters that first appear in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sql(&'static str);

impl Sql {
    /// For [`statements!`] alone.
    pub(super) const fn constant(text: &'static str) -> Self {
        Self(text)
    }

    pub(super) const fn text(self) -> &'static str {
        self.0
    }
}

/// Declare the statements of a file, and list them for the test that prepares them all.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)+) => {
        $($(#[$doc])* const $name: $crate::store::driver::Sql =
            $crate::store::driver::Sql::constant($text);)+
        #[cfg(test)]
        pub(in crate::store) const STATEMENTS: &[(&str, $crate::store::driver::Sql)] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),+];
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
    /// What is removed first.
    pub(super) clear: Option<Step>,
    /// Reads the columns that `rows` hold, and so tells their types.
    pub(super) read: Sql,
    /// Writes one row.
    pub(super) write: Sql,
    /// Begins the writing of many.
    pub(super) bulk: BulkSql,
    pub(super) rows: Vec<Row>,
}

/// One step of an atomic batch.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) sql: Sql,
    pub(super) params: Vec<Value<'static>>,
    /// The batch holds only if this step gives at least one row.
    pub(super) must_give_row: bool,
}

impl Step {
    pub(crate) fn new<'a>(sql: Sql, params: impl IntoIterator<Item = Value<'a>>) -> Self {
        let params = params.into_iter().map(Value::into_owned).collect();
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
    Done(Vec<Vec<Row>>),
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
    /// A row by its key. On SQLite it is read right here, without changing threads.
    pub(crate) async fn find(&self, sql: Sql, params: &[Value<'_>]) -> Result<Option<Row>, Error> {
        match self {
            Self::Sqlite(db) => db.find(sql, params),
            Self::Postgres(db) => db.find(sql, params).await,
        }
    }

    /// All rows of a statement that bounds its own answer.
    pub(crate) async fn list(&self, sql: Sql, params: Vec<Value<'_>>) -> Result<Vec<Row>, Error> {
        match self {
            Self::Sqlite(db) => db.list(sql, params).await,
            Self::Postgres(db) => db.list(sql, &params).await,
        }
    }

    /// Run the steps in order, all or none, durable once this returns.
    pub(crate) async fn batch(&self, steps: Vec<Step>) -> Result<Outcome, Error> {
        if steps.is_empty() {
            return Ok(Outcome::Done(Vec::new()));
        }
        match self {
            Self::Sqlite(db) => db.batch(steps).await,
            Self::Postgres(db) => db.batch(steps).await,
        }
    }

    /// Write many rows into one table, all or none, durable once this returns.
    pub(crate) async fn load(&self, load: Load) -> Result<(), Error> {
        match self {
            Self::Sqlite(db) => db.load(load).await,
            Self::Postgres(db) => db.load(load).await,
        }
    }

    /// The time, for a statement that goes by the database's clock: an SQLite database is in the
    /// process and goes by the process's, `now`; PostgreSQL is told nothing and reads its own.
    pub(crate) fn clock_param(&self, now: Timestamp) -> Value<'static> {
        match self {
            Self::Sqlite(_) => now.into(),
            Self::Postgres(_) => Value::Null,
        }
    }

    /// A batch of one step; its rows.
    pub(crate) async fn write(&self, step: Step) -> Result<Vec<Row>, Error> {
        match self.batch(vec![step]).await? {
            Outcome::Done(mut rows) => Ok(rows.pop().unwrap_or_default()),
            Outcome::Undone(_) => Ok(Vec::new()),
        }
    }
}
