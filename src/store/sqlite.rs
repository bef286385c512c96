//! SQLite: one thread that writes, with group commit. The search index is written with the links of each
//! transaction.
//!
//! Writers hand their steps to the thread and wait. It takes what has gathered, runs it all in one
//! transaction, commits with `synchronous=FULL`, and only then answers: an acknowledged write has
//! been synced. Readers see the last commit and never wait for the writer: see `sqlite_readers`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, PrepFlags, Statement, ToSql};
use tokio::sync::{mpsc, oneshot};

use crate::config::StoreConfig;
use crate::store::driver::{Load, Outcome, Sql, Step};
use crate::store::search_index::{self, LinkIndexer};
use crate::store::sqlite_readers::SqliteReaders;
use crate::store::store_file::{self, StoreFile};
use crate::store::value::{SqlRow, SqlValue};
use crate::store::wal::{LOG_BYTES, WalMonitor};
use crate::store::{Error, statements};
use kurz_core::group_commit::{GroupCommit, RolledBack, TransactionResult};

/// How long to wait for another process's lock on the file.
const BUSY: Duration = Duration::from_secs(5);
/// Batches that may wait for the writer; more make their callers wait.
const QUEUE: usize = 1024;
/// Pages in the write-ahead log before it is moved into the database: 64 MiB. Rarer than SQLite's
/// own 1,000, since pages of random keys would be moved again and again.
const CHECKPOINT_PAGES: i64 = 16_384;
/// Pages that connections keep, in KiB. The rest is the operating system's cache: kurz is to be small.
const WRITER_CACHE_KIB: i64 = 2048;
const READER_CACHE_KIB: i64 = 1024;

#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: mpsc::Sender<WriterTask>,
    readers: SqliteReaders,
    failing: Arc<AtomicBool>,
    file: StoreFile,
}

/// What the writer is asked for.
enum WriterTask {
    Write(WriteJob),
    /// Move the log into the database.
    Checkpoint(oneshot::Sender<()>),
}

struct WriteJob {
    steps: Vec<Step>,
    reply: oneshot::Sender<Result<Outcome, Error>>,
}

impl WriteJob {
    fn answer(self, answer: Result<Outcome, Error>) {
        // A caller that has gone away does not need its answer.
        let _ = self.reply.send(answer);
    }
}

impl Sqlite {
    /// Open the file behind `writer`, which has been set up and migrated, with readers.
    pub(crate) fn start(
        path: &Path,
        mut writer: Connection,
        config: &StoreConfig,
    ) -> Result<Self, Error> {
        let file = StoreFile::at(path).map_err(|error| Error::Unavailable(error.to_string()))?;
        let readers = SqliteReaders::open(path, config.pool_size, config.statement_timeout)?;
        let index = LinkIndexer::watch(&mut writer).map_err(|error| failed(&error))?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let failing = Arc::new(AtomicBool::new(false));
        let (path, told) = (path.to_owned(), Arc::clone(&failing));
        thread::Builder::new()
            .name("kurz-writer".to_owned())
            .spawn(move || {
                SqliteWriter::new(&writer, index, told).write_all(queue, WalMonitor::new(&path));
            })
            .map_err(|error| Error::Open(format!("cannot start the writer thread: {error}")))?;
        Ok(Self { writer: sender, readers, failing, file })
    }

    /// The file as it was opened.
    pub(crate) const fn file(&self) -> &StoreFile {
        &self.file
    }

    /// Whether the disk or the file refused the last write, though there was room.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    pub(crate) async fn find(
        &self,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, Error> {
        self.readers.find(sql, params).await
    }

    pub(crate) async fn list(
        &self,
        sql: Sql,
        params: Vec<SqlValue<'_>>,
    ) -> Result<Vec<SqlRow>, Error> {
        self.readers.list(sql, params).await
    }

    pub(crate) async fn batch(&self, steps: Vec<Step>) -> Result<Outcome, Error> {
        let (reply, answer) = oneshot::channel();
        let stopped = |_| Error::Unavailable("the writer has stopped".to_owned());
        let work = WriterTask::Write(WriteJob { steps, reply });
        self.writer.send(work).await.map_err(|error| stopped(error.to_string()))?;
        answer.await.map_err(|error| stopped(error.to_string()))?
    }

    /// Move the log into the database, so that the file by itself is all there is.
    pub(crate) async fn checkpoint(&self) {
        let (done, finished) = oneshot::channel();
        if self.writer.send(WriterTask::Checkpoint(done)).await.is_ok() {
            let _ = finished.await;
        }
    }

    /// One batch: with its statement prepared once, SQLite has no faster way.
    pub(crate) async fn load(&self, load: Load) -> Result<(), Error> {
        let Load { clear, write, rows, .. } = load;
        let rows = rows.into_iter().map(|row| Step::new(write, row.0));
        self.batch(clear.into_iter().chain(rows).collect()).await.map(|_| ())
    }
}

/// Open the file for writing, made when it is missing, and set it up.
pub(crate) fn connect_writer(path: &Path) -> Result<Connection, Error> {
    store_file::ensure(path).map_err(|error| Error::Unavailable(error.to_string()))?;
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let set = |name: &str, value: &dyn ToSql| db.pragma_update(None, name, value);
    (|| {
        db.query_row("pragma journal_mode = wal", [], |_| Ok(()))?;
        set("synchronous", &"full")?;
        set("wal_autocheckpoint", &CHECKPOINT_PAGES)?;
        db.query_row(&format!("pragma journal_size_limit = {LOG_BYTES}"), [], |_| Ok(()))?;
        set("foreign_keys", &"on")?;
        // What is removed from a page is overwritten: destroyed keys of visitors leave nothing behind.
        db.query_row("pragma secure_delete = fast", [], |_| Ok(()))?;
        set("cache_size", &-WRITER_CACHE_KIB)
    })()
    .map_err(|error| failed(&error))?;
    Ok(db)
}

/// Open the file as it is, for reading alone.
pub(crate) fn connect_reader(path: &Path) -> Result<Connection, Error> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let set = db.pragma_update(None, "cache_size", -READER_CACHE_KIB);
    set.map_err(|error| failed(&error))?;
    Ok(db)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    store_file::refuse_hard_links(path)?;
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|error| failed(&error))?;
    // Before anything else: two processes that open the file at once must wait, not fail.
    db.busy_timeout(BUSY).map_err(|error| failed(&error))?;
    search_index::add_search_function(&db).map_err(|error| failed(&error))?;
    db.set_prepared_statement_cache_capacity(statements::COUNT);
    // Without it SQLite plans a statement anew for every value that is bound to it, which costs
    // several times as much as the look-up itself.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|error| failed(&error))?;
    // The last one out leaves the log where it is, be it empty: that it is missing is then a sign.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(|error| failed(&error))?;
    Ok(db)
}

fn add(group: &mut GroupCommit<WriteJob>, job: WriteJob) {
    let steps = job.steps.len();
    group.add(job, steps);
}

/// The only writer.
struct SqliteWriter<'db> {
    db: &'db Connection,
    /// By the place of their text, which is a constant: the connection's own cache would hash
    /// the whole text at every step.
    statements: HashMap<(*const u8, usize), Statement<'db>>,
    index: LinkIndexer,
    failing: Arc<AtomicBool>,
}

impl<'db> SqliteWriter<'db> {
    fn new(db: &'db Connection, index: LinkIndexer, failing: Arc<AtomicBool>) -> Self {
        Self { db, statements: HashMap::new(), index, failing }
    }

    /// The loop of the writer thread: gather, run, commit, answer.
    fn write_all(mut self, mut queue: mpsc::Receiver<WriterTask>, mut log: WalMonitor) {
        let mut group = GroupCommit::default();
        while let Some(work) = queue.blocking_recv() {
            let mut next = Some(work);
            while let Some(WriterTask::Write(job)) = next {
                add(&mut group, job);
                next = if group.has_room() { queue.try_recv().ok() } else { None };
            }
            self.write_group(&mut group);
            if let Some(WriterTask::Checkpoint(done)) = next {
                self.checkpoint();
                // A caller that has gone away does not need its answer.
                let _ = done.send(());
            }
            log.look();
        }
        self.checkpoint();
    }

    /// A failure leaves a log that the next start reads.
    fn checkpoint(&self) {
        let _ = self.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
    }

    /// Write what is in the group; each caller is answered after its transaction is committed.
    fn write_group(&mut self, group: &mut GroupCommit<WriteJob>) {
        while let Some(jobs) = group.transaction() {
            let ran = self.run_group(jobs);
            match &ran {
                Ok(_) => self.failing.store(false, Ordering::Relaxed),
                Err(RolledBack::Lost(error)) => {
                    let refused = matches!(error.kind(), Error::Unavailable(_) | Error::Corrupt(_));
                    self.failing.store(refused, Ordering::Relaxed);
                }
                Err(RolledBack::ByBatch(_)) => {}
            }
            for (job, answer) in group.ran(ran) {
                job.answer(answer);
            }
        }
    }

    fn run_group(&mut self, group: &[WriteJob]) -> TransactionResult<Outcome, Error> {
        let lost = |error, statement| RolledBack::Lost(failed(&error).in_statement(statement));
        self.index.begin();
        self.db.execute_batch("begin immediate").map_err(|error| lost(error, "begin"))?;
        let ran = group.iter().map(|job| self.run_steps(&job.steps));
        let ran = ran.collect::<Result<Vec<_>, _>>();
        let committed = ran.and_then(|answers| {
            self.index.write(self.db).map_err(|error| lost(error, "link_search"))?;
            self.db.execute_batch("commit").map_err(|error| lost(error, "commit"))?;
            Ok(answers)
        });
        if committed.is_err() {
            // Leaves the transaction, if SQLite has not left it by itself.
            let _ = self.db.execute_batch("rollback");
        }
        committed
    }

    /// Run one batch; its answer, should the transaction be committed.
    fn run_steps(
        &mut self,
        steps: &[Step],
    ) -> Result<Result<Outcome, Error>, RolledBack<Outcome, Error>> {
        let mut rows = Vec::with_capacity(steps.len());
        let mut missed = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            match self.run_step(step) {
                Ok(found) => {
                    if step.must_give_row && found.is_empty() {
                        missed.push(at);
                    }
                    rows.push(found);
                }
                Err(error) => {
                    let named = failed(&error).in_statement(step.sql.name());
                    return match (undoes_itself(&error), at) {
                        (false, _) => Err(RolledBack::Lost(named)),
                        (true, 0) => Ok(Err(named)),
                        // What came before it in the batch must not stay.
                        (true, _) => Err(RolledBack::ByBatch(Err(named))),
                    };
                }
            }
        }
        match (missed.is_empty(), steps.len()) {
            (true, _) => Ok(Ok(Outcome::Done(rows))),
            // A step that gave no row changed nothing.
            (false, 1) => Ok(Ok(Outcome::Undone(missed))),
            (false, _) => Err(RolledBack::ByBatch(Ok(Outcome::Undone(missed)))),
        }
    }

    fn run_step(&mut self, step: &Step) -> rusqlite::Result<Vec<SqlRow>> {
        let text = step.sql.sqlite_text();
        let statement = match self.statements.entry((text.as_ptr(), text.len())) {
            Entry::Occupied(prepared) => prepared.into_mut(),
            Entry::Vacant(free) => {
                let flags = PrepFlags::SQLITE_PREPARE_PERSISTENT;
                free.insert(self.db.prepare_with_flags(text, flags)?)
            }
        };
        if statement.column_count() > 0 {
            return read_rows(statement, &step.params);
        }
        let changed = statement.execute(rusqlite::params_from_iter(&step.params))?;
        Ok(if changed > 0 { vec![SqlRow(Vec::new())] } else { Vec::new() })
    }
}

/// Whether an error concerns its own statement alone and leaves the transaction standing.
fn undoes_itself(error: &rusqlite::Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::OperationInterrupted
        )
    )
}

pub(super) fn read_rows(
    statement: &mut Statement<'_>,
    params: &[SqlValue<'_>],
) -> rusqlite::Result<Vec<SqlRow>> {
    let columns = statement.column_count();
    let mut rows = statement.query(rusqlite::params_from_iter(params))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        let mut values = Vec::with_capacity(columns);
        for column in 0..columns {
            values.push(match row.get_ref(column)? {
                ValueRef::Null => SqlValue::Null,
                ValueRef::Integer(int) => SqlValue::Int(int),
                ValueRef::Real(real) => SqlValue::Real(real),
                ValueRef::Text(text) => SqlValue::owned(std::str::from_utf8(text)?),
                ValueRef::Blob(blob) => SqlValue::Blob(blob.to_vec().into()),
            });
        }
        out.push(SqlRow(values));
    }
    Ok(out)
}

/// Sort an error by what its caller can do about it.
pub(crate) fn failed(error: &rusqlite::Error) -> Error {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation)
            if text.contains("FOREIGN KEY") || text.contains("NOT NULL") =>
        {
            Error::Dangling(text)
        }
        Some(ErrorCode::DiskFull) => Error::Full(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt(text),
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::OperationInterrupted,
        ) => Error::Unavailable(text),
        _ => Error::Refused(text),
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Int(int) => ValueRef::Integer(*int),
            SqlValue::Real(real) => ValueRef::Real(*real),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUT: Sql = Sql::constant("PUT", "insert into t (id) values ($1) on conflict do nothing");
    const PUT_OR_FAIL: Sql = Sql::constant("PUT_OR_FAIL", "insert into t (id) values ($1)");
    const TAKE: Sql = Sql::constant("TAKE", "delete from t where id = $1 returning id");

    fn put(id: i64) -> Step {
        Step::new(PUT, [SqlValue::Int(id)])
    }

    /// The answers to batches that are written as one group, and the ids that are there afterwards.
    fn write_together(batches: Vec<Vec<Step>>) -> (Vec<Result<Outcome, String>>, Vec<i64>) {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("create table t (id integer primary key)").unwrap();
        let (mut group, mut answers) = (GroupCommit::default(), Vec::new());
        for steps in batches {
            let (reply, answer) = oneshot::channel();
            add(&mut group, WriteJob { steps, reply });
            answers.push(answer);
        }
        SqliteWriter::new(&db, LinkIndexer::default(), Arc::default()).write_group(&mut group);
        let told = |mut answer: oneshot::Receiver<Result<Outcome, Error>>| {
            answer.try_recv().unwrap().map_err(|error| error.to_string())
        };
        let answers = answers.into_iter().map(told).collect();
        let mut ids = db.prepare("select id from t order by id").unwrap();
        let ids = ids.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        (answers, ids)
    }

    #[test]
    fn a_batch_that_is_undone_leaves_the_others_of_its_group_standing() {
        let fail = || Step::new(PUT_OR_FAIL, [SqlValue::Int(1)]);
        let (answers, ids) = write_together(vec![
            vec![put(1)],
            vec![put(2), put(1).or_undo()],
            vec![put(3), fail()],
            vec![fail()],
            vec![Step::new(TAKE, [SqlValue::Int(9)]).or_undo()],
            vec![put(4), put(1), put(5)],
        ]);
        let (row, none) = (vec![SqlRow(Vec::new())], Vec::new());
        assert_eq!(answers[0], Ok(Outcome::Done(vec![row.clone()])));
        assert_eq!(answers[1], Ok(Outcome::Undone(vec![1])));
        assert!(answers[2].is_err() && answers[2] == answers[3], "{answers:?}");
        assert_eq!(answers[4], Ok(Outcome::Undone(vec![0])));
        assert_eq!(answers[5], Ok(Outcome::Done(vec![row.clone(), none, row])));
        assert_eq!(ids, [1, 4, 5]);
    }

    #[test]
    fn a_statement_that_fails_alone_does_not_undo_its_group() {
        let (answers, ids) = write_together(vec![
            vec![put(1)],
            vec![Step::new(PUT_OR_FAIL, [SqlValue::Int(1)])],
            vec![put(2)],
        ]);
        assert!(answers[1].as_ref().is_err_and(|error| error.ends_with("(statement PUT_OR_FAIL)")));
        assert_eq!(ids, [1, 2]);
    }

    #[test]
    fn rows_that_are_read_back_are_told_from_rows_that_changed() {
        let take = Step::new(TAKE, [SqlValue::Int(1)]);
        let (answers, ids) = write_together(vec![vec![put(1), take, put(2)]]);
        let read = vec![SqlRow(vec![SqlValue::Int(1)])];
        let changed = vec![SqlRow(Vec::new())];
        assert_eq!(answers, [Ok(Outcome::Done(vec![changed.clone(), read, changed]))]);
        assert_eq!(ids, [2]);
    }
}
