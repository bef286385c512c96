//! Copying a whole store into another, of either kind, and proving that the two are equal.
//!
//! Every table is read in the order of its key, a page at a time, and written with the same
//! columns. A checksum is the SHA-256 of all rows in that order. Until a copy is complete its target
//! is marked and cannot be served. One that was interrupted goes on when it is started again: pages
//! that are there already and still equal stay, the others are replaced.

pub(super) mod tables;
mod checksum;

pub use checksum::Checksum;

use std::cell::RefCell;

use crate::store::copy::checksum::ChecksumBuilder;
use crate::store::copy::tables::{COUNT_HOSTS, COUNT_LINKS, COUNT_WORKSPACES, CopyTable, TABLES};
use crate::store::driver::{Load, Sql, Step, statements};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::{Error, Store};

/// Rows in a page: as many as amortise a commit, few enough to hold in memory.
const PAGE: usize = 4000;
/// Rows in a page of events: a column of a full block may have some hundred kilobytes.
const EVENTS_PAGE: usize = 100;

statements! {
    /// An unfinished copy is a lock that nobody holds.
    MARK = "insert into locks (name, lock_until, locked_at, locked_by)
        values ('copy', 0, 0, 'kurz copy') on conflict do nothing";
    UNMARK = "delete from locks where name = 'copy'";
    MARKED = "select name from locks where name = 'copy'";
}

/// How far a copy or a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, for messages.
    pub doing: &'static str,
    pub done: u64,
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
            let mut pages = TablePages::new(table);
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
    async fn write_page(
        &self,
        table: &CopyTable,
        page: TablePage,
        resumes: bool,
    ) -> Result<(), Error> {
        let TablePage { after, up_to, rows } = page;
        let clear = if resumes {
            if read_page(self, table, &after).await? == rows {
                return Ok(());
            }
            Some(table.clear_step(after, up_to))
        } else {
            None
        };
        if table.updates_in_place {
            let write = |row: SqlRow| Step::new(table.write, row.0);
            return self.db.batch(rows.into_iter().map(write).collect()).await.map(|_| ());
        }
        if rows.is_empty() && clear.is_none() {
            return Ok(());
        }
        let CopyTable { read, write, bulk, .. } = *table;
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
            let mut sum = ChecksumBuilder::default();
            let mut pages = TablePages::new(table);
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

type RowKey = Vec<SqlValue<'static>>;

impl CopyTable {
    fn page_rows(&self) -> usize {
        match self.name {
            "event_log" | "event_blocks" | "day_sums" => EVENTS_PAGE,
            _ => PAGE,
        }
    }

    fn first_key(&self) -> RowKey {
        self.key.iter().map(|kind| kind.first()).collect()
    }

    fn last_key(&self) -> RowKey {
        self.key.iter().map(|kind| kind.last()).collect()
    }

    fn clear_step(&self, after: RowKey, up_to: RowKey) -> Step {
        Step::new(self.clear, after.into_iter().chain(up_to))
    }
}

/// A stretch of a table: all rows after one key, up to another.
struct TablePage {
    after: RowKey,
    up_to: RowKey,
    rows: Vec<SqlRow>,
}

/// Reads a table in the order of its key, to the end of all keys.
struct TablePages {
    table: &'static CopyTable,
    after: Option<RowKey>,
}

impl TablePages {
    fn new(table: &'static CopyTable) -> Self {
        Self { table, after: Some(table.first_key()) }
    }

    async fn next(&mut self, store: &Store) -> Result<Option<TablePage>, Error> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let rows = read_page(store, self.table, &after).await?;
        let full = rows.last().filter(|_| rows.len() == self.table.page_rows());
        self.after = full.map(|row| row.0.iter().take(self.table.key.len()).cloned().collect());
        let up_to = self.after.clone().unwrap_or_else(|| self.table.last_key());
        Ok(Some(TablePage { after, up_to, rows }))
    }
}

async fn read_page(store: &Store, table: &CopyTable, after: &RowKey) -> Result<Vec<SqlRow>, Error> {
    let mut params = after.clone();
    params.push(SqlValue::Int(i64::try_from(table.page_rows()).unwrap_or(i64::MAX)));
    store.db.list(table.read, params).await
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
