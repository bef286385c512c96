//! Plain rusqlite: the upper bound for these tables. One thread, one prepared `insert`, the rows
//! ready in memory, the pragmas of kurz's own writer, no checks and no reads; the search index is written
//! once per transaction, as kurz does it.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::input::{LinkRow, WORKSPACE};

const INSERT: &str = "insert into links (id, workspace, code, strategy, target, canonical_hash,
        redirect_status, created_at, updated_at, main_since, version)
    values (?1, ?2, ?3, 'deterministic', ?4, ?5, 302, ?6, ?6, ?6, 1)";
const INDEX: &str = "insert into link_search (rowid, text)
    select id, scope_token(list_scope) || char(10) || code || char(10) || coalesce(title, '')
        || char(10) || target from links where id >= ?1";
/// Any time will do, as long as it grows with the id.
const CREATED_AT: i64 = 1_790_000_000_000;

/// A database with kurz's tables, and the number of its next link.
pub(crate) struct Raw {
    db: Connection,
    next_id: i64,
}

impl Raw {
    /// Open the file as kurz's writer does; see `src/store/sqlite.rs`.
    pub(crate) fn open(path: &Path) -> Self {
        let db = Connection::open(path).expect("the file is a database");
        db.execute_batch(
            "pragma journal_mode = wal;
             pragma synchronous = full;
             pragma wal_autocheckpoint = 16384;
             pragma foreign_keys = on;
             pragma cache_size = -32768",
        )
        .expect("SQLite knows these pragmas");
        kurz::store::add_search_function(&db).expect("the connection is fresh");
        let last = "select coalesce(max(id), 0) from links";
        let last: i64 = db.query_row(last, [], |row| row.get(0)).expect("there are links");
        Self { db, next_id: last + 1 }
    }

    /// Insert `rows`, `batch` in a transaction.
    pub(crate) fn insert(&mut self, rows: &[LinkRow], batch: usize) {
        let mut insert = self.db.prepare(INSERT).expect("the tables are kurz's");
        let mut index = self.db.prepare(INDEX).expect("the tables are kurz's");
        for rows in rows.chunks(batch) {
            self.db.execute_batch("begin immediate").expect("nobody else writes");
            let first = self.next_id;
            for row in rows {
                let id = self.next_id;
                self.next_id += 1;
                let hash: &[u8] = &row.canonical_hash;
                let values = params![id, WORKSPACE, row.code, row.target, hash, CREATED_AT + id];
                insert.execute(values).expect("no two rows are alike");
            }
            index.execute([first]).expect("they are new");
            self.db.execute_batch("commit").expect("the disk has room");
        }
    }

    /// Make `links` links without waiting for the disk, and let kurz count on from there.
    pub(crate) fn fill(&mut self, links: usize) {
        self.db
            .execute_batch("pragma synchronous = off; pragma cache_size = -1000000")
            .expect("known");
        for _ in 0..links / 10_000 {
            self.insert(&crate::input::rows(10_000), 10_000);
        }
        let next = "update counters set next = ?1 where name = 'link'";
        self.db.execute(next, [self.next_id]).expect("the counter exists");
    }
}
