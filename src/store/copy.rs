//! Copying a whole store into another, of either kind, and proving that the two are equal.
//!
//! Every table is read in the order of its key, a page at a time, and written with the same
//! columns. A checksum is the SHA-256 of all rows in that order. Until a copy is complete its target
//! is marked and cannot be served. One that was interrupted goes on when it is started again: pages
//! that are there already and still equal stay, the others are replaced.

use std::borrow::Cow;
use std::cell::RefCell;

use crate::store::checksum::{Checksum, Sum};
use crate::store::driver::{BulkSql, Load, Sql, Step, statements};
use crate::store::value::{Row, Value};
use crate::store::{Error, Store};

/// Rows in a page: as many as amortise a commit, few enough to hold in memory.
const PAGE: usize = 4000;

/// The columns of a table, its key first.
macro_rules! columns {
    (workspaces) => {
        "id, strategy, hit_limit, created_at, updated_at, deleted_at"
    };
    (hosts) => {
        "host, workspace, created_at"
    };
    (links) => {
        "id, workspace, code, strategy, target, canonical_hash, title, tags, redirect_status,
         hit_limit, created_at, updated_at, expires_at, deleted_at, purged_at, main_since, version,
         owner_id, claim_hash, expired_at"
    };
    (link_tags) => {
        "workspace, tag, link_id"
    };
    (link_stats) => {
        "link_id, redirect_count, avg_redirect_ms, last_redirect_at, month, month_hits"
    };
    (totals) => {
        "name, count, mean"
    };
    (counters) => {
        "name, next"
    };
    (secrets) => {
        "name, value, created_at"
    };
    (users) => {
        "id, email, name, password_hash, token_version, admin_at, disabled_at, created_at,
         updated_at"
    };
    (api_keys) => {
        "id, user_id, name, hash, prefix, scopes, workspace, created_at, expires_at, last_used_at,
         revoked_at"
    };
    (members) => {
        "user_id, workspace, role, created_at"
    };
    (invites) => {
        "hash, email, created_at, expires_at, used_at"
    };
    (user_months) => {
        "user_id, month, links"
    };
    (link_health) => {
        "link_id, destination_status, last_checked_at, next_check_at"
    };
}

macro_rules! select {
    ($table:ident, $rest:literal) => {
        concat!("select ", columns!($table), " from ", stringify!($table), " where ", $rest)
    };
}

macro_rules! insert {
    ($table:ident, $rest:literal) => {
        concat!("insert into ", stringify!($table), " (", columns!($table), ") values ", $rest)
    };
}

macro_rules! bulk {
    ($table:ident) => {
        BulkSql::constant(concat!(
            "copy ",
            stringify!($table),
            " (",
            columns!($table),
            ") from stdin (format binary)"
        ))
    };
}

statements! {
    READ_WORKSPACES = select!(workspaces, "id > $1 order by id limit $2");
    /// Links refer to it: it is changed where it stands.
    WRITE_WORKSPACES = insert!(workspaces, "($1, $2, $3, $4, $5, $6)
        on conflict (id) do update set strategy = excluded.strategy,
            hit_limit = excluded.hit_limit, created_at = excluded.created_at,
            updated_at = excluded.updated_at, deleted_at = excluded.deleted_at");
    CLEAR_WORKSPACES = "delete from workspaces where id > $1 and id <= $2";
    COUNT_WORKSPACES = "select count(*) from workspaces";
    READ_HOSTS = select!(hosts, "host > $1 order by host limit $2");
    WRITE_HOSTS = insert!(hosts, "($1, $2, $3)");
    CLEAR_HOSTS = "delete from hosts where host > $1 and host <= $2";
    COUNT_HOSTS = "select count(*) from hosts";
    READ_LINKS = select!(links, "id > $1 order by id limit $2");
    WRITE_LINKS = insert!(links, "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18, $19, $20)");
    CLEAR_LINKS = "delete from links where id > $1 and id <= $2";
    COUNT_LINKS = "select count(*) from links";
    READ_TAGS = select!(link_tags, "(workspace, tag, link_id) > ($1, $2, $3)
        order by workspace, tag, link_id limit $4");
    WRITE_TAGS = insert!(link_tags, "($1, $2, $3)");
    CLEAR_TAGS = "delete from link_tags where (workspace, tag, link_id) > ($1, $2, $3)
        and (workspace, tag, link_id) <= ($4, $5, $6)";
    COUNT_TAGS = "select count(*) from link_tags";
    READ_STATS = select!(link_stats, "link_id > $1 order by link_id limit $2");
    WRITE_STATS = insert!(link_stats, "($1, $2, $3, $4, $5, $6)");
    CLEAR_STATS = "delete from link_stats where link_id > $1 and link_id <= $2";
    COUNT_STATS = "select count(*) from link_stats";
    READ_TOTALS = select!(totals, "name > $1 order by name limit $2");
    WRITE_TOTALS = insert!(totals, "($1, $2, $3)");
    CLEAR_TOTALS = "delete from totals where name > $1 and name <= $2";
    COUNT_TOTALS = "select count(*) from totals";
    READ_COUNTERS = select!(counters, "name > $1 order by name limit $2");
    WRITE_COUNTERS = insert!(counters, "($1, $2)");
    CLEAR_COUNTERS = "delete from counters where name > $1 and name <= $2";
    COUNT_COUNTERS = "select count(*) from counters";
    READ_SECRETS = select!(secrets, "name > $1 order by name limit $2");
    WRITE_SECRETS = insert!(secrets, "($1, $2, $3)");
    CLEAR_SECRETS = "delete from secrets where name > $1 and name <= $2";
    COUNT_SECRETS = "select count(*) from secrets";
    READ_USERS = select!(users, "id > $1 order by id limit $2");
    WRITE_USERS = insert!(users, "($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    CLEAR_USERS = "delete from users where id > $1 and id <= $2";
    COUNT_USERS = "select count(*) from users";
    READ_KEYS = select!(api_keys, "id > $1 order by id limit $2");
    WRITE_KEYS = insert!(api_keys, "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    CLEAR_KEYS = "delete from api_keys where id > $1 and id <= $2";
    COUNT_KEYS = "select count(*) from api_keys";
    READ_MEMBERS = select!(members, "(user_id, workspace) > ($1, $2)
        order by user_id, workspace limit $3");
    WRITE_MEMBERS = insert!(members, "($1, $2, $3, $4)");
    CLEAR_MEMBERS = "delete from members where (user_id, workspace) > ($1, $2)
        and (user_id, workspace) <= ($3, $4)";
    COUNT_MEMBERS = "select count(*) from members";
    READ_INVITES = select!(invites, "hash > $1 order by hash limit $2");
    WRITE_INVITES = insert!(invites, "($1, $2, $3, $4, $5)");
    CLEAR_INVITES = "delete from invites where hash > $1 and hash <= $2";
    COUNT_INVITES = "select count(*) from invites";
    READ_MONTHS = select!(user_months, "(user_id, month) > ($1, $2)
        order by user_id, month limit $3");
    WRITE_MONTHS = insert!(user_months, "($1, $2, $3)");
    CLEAR_MONTHS = "delete from user_months where (user_id, month) > ($1, $2)
        and (user_id, month) <= ($3, $4)";
    COUNT_MONTHS = "select count(*) from user_months";
    READ_HEALTH = select!(link_health, "link_id > $1 order by link_id limit $2");
    WRITE_HEALTH = insert!(link_health, "($1, $2, $3, $4)");
    CLEAR_HEALTH = "delete from link_health where link_id > $1 and link_id <= $2";
    COUNT_HEALTH = "select count(*) from link_health";
    /// An unfinished copy is a lock that nobody holds.
    MARK = "insert into locks (name, lock_until, locked_at, locked_by)
        values ('copy', 0, 0, 'kurz copy') on conflict do nothing";
    UNMARK = "delete from locks where name = 'copy'";
    MARKED = "select name from locks where name = 'copy'";
}

/// How a table is copied.
struct Table {
    name: &'static str,
    key: &'static [Kind],
    /// Whether its rows must stay where they are, since other tables' rows refer to them.
    stays: bool,
    read: Sql,
    write: Sql,
    bulk: BulkSql,
    /// Removes what lies after one key, up to another.
    clear: Sql,
    count: Sql,
}

/// What a column of a key holds.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Text,
    Bytes,
}

impl Kind {
    /// Before all values.
    const fn first(self) -> Value<'static> {
        match self {
            Self::Number => Value::Int(i64::MIN),
            Self::Text => Value::Text(Cow::Borrowed("")),
            Self::Bytes => Value::Blob(Cow::Borrowed(&[])),
        }
    }

    /// After all values: names, hosts and tags hold no such character, hashes are shorter.
    const fn last(self) -> Value<'static> {
        match self {
            Self::Number => Value::Int(i64::MAX),
            Self::Text => Value::Text(Cow::Borrowed("\u{10ffff}")),
            Self::Bytes => Value::Blob(Cow::Borrowed(&[0xff; 33])),
        }
    }
}

macro_rules! table {
    ($name:ident, $key:expr, $stays:literal, $read:expr, $write:expr, $clear:expr, $count:expr) => {
        Table {
            name: stringify!($name),
            key: $key,
            stays: $stays,
            read: $read,
            write: $write,
            bulk: bulk!($name),
            clear: $clear,
            count: $count,
        }
    };
}

const NUMBER: &[Kind] = &[Kind::Number];
const TEXT: &[Kind] = &[Kind::Text];
const NUMBERS: &[Kind] = &[Kind::Number, Kind::Number];
const BYTES: &[Kind] = &[Kind::Bytes];
const MEMBER: &[Kind] = &[Kind::Number, Kind::Text];
const TAG: &[Kind] = &[Kind::Text, Kind::Text, Kind::Number];

/// Those that others refer to come first. Locks stay where they are: they belong to processes.
const TABLES: &[Table] = &[
    table!(
        workspaces,
        TEXT,
        true,
        READ_WORKSPACES,
        WRITE_WORKSPACES,
        CLEAR_WORKSPACES,
        COUNT_WORKSPACES
    ),
    table!(hosts, TEXT, false, READ_HOSTS, WRITE_HOSTS, CLEAR_HOSTS, COUNT_HOSTS),
    table!(links, NUMBER, false, READ_LINKS, WRITE_LINKS, CLEAR_LINKS, COUNT_LINKS),
    table!(link_tags, TAG, false, READ_TAGS, WRITE_TAGS, CLEAR_TAGS, COUNT_TAGS),
    table!(link_stats, NUMBER, false, READ_STATS, WRITE_STATS, CLEAR_STATS, COUNT_STATS),
    table!(totals, TEXT, false, READ_TOTALS, WRITE_TOTALS, CLEAR_TOTALS, COUNT_TOTALS),
    table!(counters, TEXT, false, READ_COUNTERS, WRITE_COUNTERS, CLEAR_COUNTERS, COUNT_COUNTERS),
    table!(secrets, TEXT, false, READ_SECRETS, WRITE_SECRETS, CLEAR_SECRETS, COUNT_SECRETS),
    table!(users, NUMBER, false, READ_USERS, WRITE_USERS, CLEAR_USERS, COUNT_USERS),
    table!(api_keys, NUMBER, false, READ_KEYS, WRITE_KEYS, CLEAR_KEYS, COUNT_KEYS),
    table!(members, MEMBER, false, READ_MEMBERS, WRITE_MEMBERS, CLEAR_MEMBERS, COUNT_MEMBERS),
    table!(invites, BYTES, false, READ_INVITES, WRITE_INVITES, CLEAR_INVITES, COUNT_INVITES),
    table!(user_months, NUMBERS, false, READ_MONTHS, WRITE_MONTHS, CLEAR_MONTHS, COUNT_MONTHS),
    table!(link_health, NUMBER, false, READ_HEALTH, WRITE_HEALTH, CLEAR_HEALTH, COUNT_HEALTH),
];

/// The names of the tables that a copy holds.
#[cfg(test)]
pub(super) fn tables() -> Vec<&'static str> {
    TABLES.iter().map(|table| table.name).collect()
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
        let resumes = target.has_unfinished_copy().await?;
        if !resumes {
            target.begin_copy().await?;
        }
        let total = self.count_rows().await?;
        let mut done = 0;
        for table in TABLES {
            let mut pages = Pages::new(table);
            let mut next = pages.next(self).await?;
            while let Some(page) = next {
                done += page.rows.len();
                // The next page is read while this one is written: two databases, two disks.
                let written = target.write_page(table, page, resumes);
                (next, ()) = tokio::try_join!(pages.next(self), written)?;
                report(Progress { doing: "copying", done: count(done), total });
            }
        }
        let sums = self.compare(target, report).await?;
        target.db.write(Step::new(UNMARK, [])).await?;
        Ok(sums)
    }

    /// Mark a fresh store as the target of a copy, and take out what every fresh store has.
    async fn begin_copy(&self) -> Result<(), Error> {
        // `main` is there as soon as a server was started once.
        let workspaces = self.count(COUNT_WORKSPACES).await?;
        if self.count_links().await? > 0 || self.count(COUNT_HOSTS).await? > 0 || workspaces > 1 {
            return Err(Error::Open(
                "the target of the copy is in use, it holds links, hosts or workspaces: name a \
                 fresh store"
                    .to_owned(),
            ));
        }
        let mut steps = vec![Step::new(MARK, [])];
        for table in TABLES.iter().rev() {
            steps.push(table.clear_step(table.first_key(), table.last_key()));
        }
        self.db.batch(steps).await.map(|_| ())
    }

    /// Make the rows of one stretch of keys those of `page`.
    async fn write_page(&self, table: &Table, page: Page, resumes: bool) -> Result<(), Error> {
        let Page { after, up_to, rows } = page;
        let clear = if resumes {
            if read_page(self, table, &after).await? == rows {
                return Ok(());
            }
            Some(table.clear_step(after, up_to))
        } else {
            None
        };
        if table.stays {
            let write = |row: Row| Step::new(table.write, row.0);
            return self.db.batch(rows.into_iter().map(write).collect()).await.map(|_| ());
        }
        if rows.is_empty() && clear.is_none() {
            return Ok(());
        }
        let Table { read, write, bulk, .. } = *table;
        self.db.load(Load { clear, read, write, bulk, rows }).await
    }

    /// The checksums of both stores, which must be equal.
    async fn compare(
        &self,
        target: &Self,
        report: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Checksum>, Error> {
        let total = self.count_rows().await? + target.count_rows().await?;
        let (report, done) = (RefCell::new(report), RefCell::new(0));
        // Both at once: they are two databases, and one of them is a process of its own.
        let read = |rows: usize| {
            *done.borrow_mut() += rows;
            let done = count(*done.borrow());
            report.borrow_mut()(Progress { doing: "checking", done, total });
        };
        let (from, to) = tokio::try_join!(self.sum_tables(&read), target.sum_tables(&read))?;
        if let Some((from, _)) = from.iter().zip(&to).find(|(from, to)| from != to) {
            return Err(Error::Open(format!(
                "after the copy the two stores differ in `{}`: stop what writes to either of them \
                 and run the same copy again",
                from.table
            )));
        }
        Ok(from)
    }

    /// The checksums of all tables.
    pub async fn checksums(
        &self,
        report: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Checksum>, Error> {
        let total = self.count_rows().await?;
        let (report, done) = (RefCell::new(report), RefCell::new(0));
        self.sum_tables(&|rows| {
            *done.borrow_mut() += rows;
            let done = count(*done.borrow());
            report.borrow_mut()(Progress { doing: "checking", done, total });
        })
        .await
    }

    async fn sum_tables(&self, read: &dyn Fn(usize)) -> Result<Vec<Checksum>, Error> {
        let mut sums = Vec::with_capacity(TABLES.len());
        for table in TABLES {
            let mut sum = Sum::default();
            let mut pages = Pages::new(table);
            while let Some(page) = pages.next(self).await? {
                for row in &page.rows {
                    sum.add(row);
                }
                read(page.rows.len());
            }
            sums.push(sum.finish(table.name));
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

type Key = Vec<Value<'static>>;

impl Table {
    fn first_key(&self) -> Key {
        self.key.iter().map(|kind| kind.first()).collect()
    }

    fn last_key(&self) -> Key {
        self.key.iter().map(|kind| kind.last()).collect()
    }

    fn clear_step(&self, after: Key, up_to: Key) -> Step {
        Step::new(self.clear, after.into_iter().chain(up_to))
    }
}

/// A stretch of a table: all rows after one key, up to another.
struct Page {
    after: Key,
    up_to: Key,
    rows: Vec<Row>,
}

/// Reads a table in the order of its key, to the end of all keys.
struct Pages {
    table: &'static Table,
    after: Option<Key>,
}

impl Pages {
    fn new(table: &'static Table) -> Self {
        Self { table, after: Some(table.first_key()) }
    }

    async fn next(&mut self, store: &Store) -> Result<Option<Page>, Error> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let rows = read_page(store, self.table, &after).await?;
        let full = rows.last().filter(|_| rows.len() == PAGE);
        self.after = full.map(|row| row.0.iter().take(self.table.key.len()).cloned().collect());
        let up_to = self.after.clone().unwrap_or_else(|| self.table.last_key());
        Ok(Some(Page { after, up_to, rows }))
    }
}

async fn read_page(store: &Store, table: &Table, after: &Key) -> Result<Vec<Row>, Error> {
    let mut params = after.clone();
    params.push(Value::Int(i64::try_from(PAGE).unwrap_or(i64::MAX)));
    store.db.list(table.read, params).await
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
