//! Copying a whole store into another, of either kind, and proving that the two are equal.
//!
//! Every table is read in the order of its key, a page at a time, and written with the same
//! columns. A checksum is the SHA-256 of all rows in that order. A copy that was interrupted goes
//! on when it is started again; until it is complete the target is marked and cannot be served.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::store::driver::{Sql, Step, statements};
use crate::store::value::{Row, Value};
use crate::store::{Error, Store};

/// Rows in a page.
const PAGE: i64 = 1000;

statements! {
    READ_WORKSPACES = "select id, strategy, hit_limit, created_at, updated_at, deleted_at
        from workspaces where id > $1 order by id limit $2";
    WRITE_WORKSPACES = "insert into workspaces
            (id, strategy, hit_limit, created_at, updated_at, deleted_at)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (id) do update set strategy = excluded.strategy,
            hit_limit = excluded.hit_limit, created_at = excluded.created_at,
            updated_at = excluded.updated_at, deleted_at = excluded.deleted_at";
    COUNT_WORKSPACES = "select count(*) from workspaces";
    READ_HOSTS = "select host, workspace, created_at from hosts where host > $1
        order by host limit $2";
    WRITE_HOSTS = "insert into hosts (host, workspace, created_at) values ($1, $2, $3)
        on conflict do nothing";
    COUNT_HOSTS = "select count(*) from hosts";
    READ_LINKS = "select id, workspace, code, strategy, target, canonical_hash, title, tags,
            redirect_status, hit_limit, created_at, updated_at, expires_at, deleted_at, purged_at,
            main_since, version
        from links where id > $1 order by id limit $2";
    WRITE_LINKS = "insert into links (id, workspace, code, strategy, target, canonical_hash, title,
            tags, redirect_status, hit_limit, created_at, updated_at, expires_at, deleted_at,
            purged_at, main_since, version)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
        on conflict do nothing";
    COUNT_LINKS = "select count(*) from links";
    READ_TAGS = "select link_id, tag, workspace from link_tags where (link_id, tag) > ($1, $2)
        order by link_id, tag limit $3";
    WRITE_TAGS = "insert into link_tags (link_id, tag, workspace) values ($1, $2, $3)
        on conflict do nothing";
    COUNT_TAGS = "select count(*) from link_tags";
    READ_STATS = "select link_id, redirect_count, avg_redirect_ms, last_redirect_at, month,
            month_hits
        from link_stats where link_id > $1 order by link_id limit $2";
    WRITE_STATS = "insert into link_stats (link_id, redirect_count, avg_redirect_ms,
            last_redirect_at, month, month_hits)
        values ($1, $2, $3, $4, $5, $6) on conflict do nothing";
    COUNT_STATS = "select count(*) from link_stats";
    READ_TOTALS = "select name, count, mean from totals where name > $1 order by name limit $2";
    WRITE_TOTALS = "insert into totals (name, count, mean) values ($1, $2, $3)
        on conflict (name) do update set count = excluded.count, mean = excluded.mean";
    COUNT_TOTALS = "select count(*) from totals";
    READ_COUNTERS = "select name, next from counters where name > $1 order by name limit $2";
    WRITE_COUNTERS = "insert into counters (name, next) values ($1, $2)
        on conflict (name) do update set next = excluded.next";
    COUNT_COUNTERS = "select count(*) from counters";
    READ_SECRETS = "select name, value, created_at from secrets where name > $1
        order by name limit $2";
    WRITE_SECRETS = "insert into secrets (name, value, created_at) values ($1, $2, $3)
        on conflict (name) do update set value = excluded.value,
            created_at = excluded.created_at";
    COUNT_SECRETS = "select count(*) from secrets";
    /// An unfinished copy is a lock that nobody holds.
    MARK = "insert into locks (name, lock_until, locked_at, locked_by)
        values ('copy', 0, 0, 'kurz copy') on conflict do nothing";
    UNMARK = "delete from locks where name = 'copy'";
    MARKED = "select name from locks where name = 'copy'";
}

/// How a table is copied. Its key comes first among its columns.
struct Table {
    name: &'static str,
    /// The start of every key, one value a column.
    first_key: &'static [Value<'static>],
    read: Sql,
    write: Sql,
    count: Sql,
}

const NUMBER: &[Value<'static>] = &[Value::Int(i64::MIN)];
const TEXT: &[Value<'static>] = &[Value::Text(std::borrow::Cow::Borrowed(""))];
const NUMBER_AND_TEXT: &[Value<'static>] =
    &[Value::Int(i64::MIN), Value::Text(std::borrow::Cow::Borrowed(""))];

macro_rules! table {
    ($name:literal, $first_key:expr, $read:expr, $write:expr, $count:expr) => {
        Table { name: $name, first_key: $first_key, read: $read, write: $write, count: $count }
    };
}

/// Those that others refer to come first. Locks stay where they are: they belong to processes.
const TABLES: &[Table] = &[
    table!("workspaces", TEXT, READ_WORKSPACES, WRITE_WORKSPACES, COUNT_WORKSPACES),
    table!("hosts", TEXT, READ_HOSTS, WRITE_HOSTS, COUNT_HOSTS),
    table!("links", NUMBER, READ_LINKS, WRITE_LINKS, COUNT_LINKS),
    table!("link_tags", NUMBER_AND_TEXT, READ_TAGS, WRITE_TAGS, COUNT_TAGS),
    table!("link_stats", NUMBER, READ_STATS, WRITE_STATS, COUNT_STATS),
    table!("totals", TEXT, READ_TOTALS, WRITE_TOTALS, COUNT_TOTALS),
    table!("counters", TEXT, READ_COUNTERS, WRITE_COUNTERS, COUNT_COUNTERS),
    table!("secrets", TEXT, READ_SECRETS, WRITE_SECRETS, COUNT_SECRETS),
];

/// The content of a table, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// Which table.
    pub table: &'static str,
    /// How many rows.
    pub rows: u64,
    /// SHA-256 over all of them, in hexadecimal.
    pub sha256: String,
}

/// How far a copy or a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, for people.
    pub doing: &'static str,
    /// Rows done.
    pub done: u64,
    /// Rows in all.
    pub total: u64,
}

impl Store {
    /// Whether an interrupted copy into this store waits to be finished.
    pub async fn has_unfinished_copy(&self) -> Result<bool, Error> {
        Ok(self.db.find(MARKED, &[]).await?.is_some())
    }

    /// How many links there are, tombstones included.
    pub async fn count_links(&self) -> Result<u64, Error> {
        self.count(COUNT_LINKS).await
    }

    /// Copy everything into `target`, which is fresh or holds a part of an earlier try, and
    /// compare the two.
    pub async fn copy_to(
        &self,
        target: &Self,
        report: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Checksum>, Error> {
        if target.count_links().await? > 0 && !target.has_unfinished_copy().await? {
            return Err(Error::Open(
                "the target of the copy holds links already: name a fresh store".to_owned(),
            ));
        }
        target.db.write(Step::new(MARK, [])).await?;
        let total = self.count_rows().await?;
        let mut done = 0;
        for table in TABLES {
            let mut pages = Pages::new(table);
            while let Some(page) = pages.next(self).await? {
                done += u64::try_from(page.len()).unwrap_or(u64::MAX);
                let write = |row: Row| Step::new(table.write, row.0);
                target.db.batch(page.into_iter().map(write).collect()).await?;
                report(Progress { doing: "copying", done, total });
            }
        }
        let from = self.checksums(report).await?;
        let to = target.checksums(report).await?;
        if let Some((from, _)) = from.iter().zip(&to).find(|(from, to)| from != to) {
            return Err(Error::Open(format!(
                "after the copy the two stores differ in `{}`: was the source in use? Stop what \
                 writes to it and copy again",
                from.table
            )));
        }
        target.db.write(Step::new(UNMARK, [])).await?;
        Ok(from)
    }

    /// The checksums of all tables.
    pub async fn checksums(
        &self,
        report: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Checksum>, Error> {
        let total = self.count_rows().await?;
        let mut done = 0;
        let mut sums = Vec::with_capacity(TABLES.len());
        for table in TABLES {
            let mut hash = Sha256::new();
            let mut rows = 0;
            let mut pages = Pages::new(table);
            while let Some(page) = pages.next(self).await? {
                for row in &page {
                    hash_row(&mut hash, row);
                }
                rows += u64::try_from(page.len()).unwrap_or(u64::MAX);
                report(Progress { doing: "checking", done: done + rows, total });
            }
            done += rows;
            let sha256 = hex(&hash.finalize());
            sums.push(Checksum { table: table.name, rows, sha256 });
        }
        Ok(sums)
    }

    async fn count_rows(&self) -> Result<u64, Error> {
        let mut total = 0;
        for table in TABLES {
            total += self.count(table.count).await?;
        }
        Ok(total)
    }

    async fn count(&self, sql: Sql) -> Result<u64, Error> {
        let rows = self.db.list(sql, Vec::new()).await?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

/// Reads a table in the order of its key.
struct Pages {
    table: &'static Table,
    after: Vec<Value<'static>>,
}

impl Pages {
    fn new(table: &'static Table) -> Self {
        Self { table, after: table.first_key.to_vec() }
    }

    async fn next(&mut self, store: &Store) -> Result<Option<Vec<Row>>, Error> {
        let mut params = self.after.clone();
        params.push(Value::Int(PAGE));
        let page = store.db.list(self.table.read, params).await?;
        let Some(last) = page.last() else { return Ok(None) };
        self.after = last.0.iter().take(self.table.first_key.len()).cloned().collect();
        Ok(Some(page))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Each value with its kind and length, so that no two different rows look alike.
fn hash_row(hash: &mut Sha256, row: &Row) {
    for value in &row.0 {
        let (kind, bytes): (u8, &[u8]) = match value {
            Value::Null => (0, &[]),
            Value::Int(int) => (1, &int.to_be_bytes()),
            Value::Real(real) => (2, &real.to_bits().to_be_bytes()),
            Value::Text(text) => (3, text.as_bytes()),
            Value::Blob(blob) => (4, blob),
        };
        hash.update([kind]);
        hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(bytes);
    }
}
