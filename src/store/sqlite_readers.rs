//! Read-only SQLite connections, those for look-ups by key apart from those for lists.
//!
//! A look-up by key costs microseconds and runs on the worker that asks, on a connection that is free. It
//! is handed to a thread when all are taken, when another process locks the file, or when it turns out
//! not to be a look-up at all. Lists run on threads of their own, with a lower priority.
//!
//! Invariant: no worker waits for a lock or a scan, whatever lists are being read; and a list ends at the
//! statement timeout.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot};

use crate::clock::Stopwatch;
use crate::store::Error;
use crate::store::driver::Sql;
use crate::store::sqlite::{connect_reader, failed, read_rows};
use crate::store::value::{SqlRow, SqlValue};

/// Most connections for look-ups by key: they wait for a processor, not for a disk.
const KEY_READERS: usize = 4;
/// Most connections, each with its thread, for lists. More would not read faster from one file, but take more of the
/// processors that redirects need.
const LIST_READERS: usize = 2;
/// Lists that may wait for a thread; more are refused.
const QUEUE: usize = 256;
/// Steps of SQLite's machine between two looks at the time. A look-up by key takes less than a hundred.
const STEPS: i32 = 5000;
/// Looks at the time after which a look-up is a scan, and goes to the threads. The first may come at any
/// step, since SQLite goes on counting from one run of a statement to the next.
const LOOKS: u32 = 2;

#[derive(Debug)]
pub(super) struct SqliteReaders {
    keys: Vec<Mutex<KeyReader>>,
    /// For look-ups that found no connection free.
    late_keys: ReaderThreads,
    lists: ReaderThreads,
}

impl SqliteReaders {
    /// `count` connections, at least one of each kind, whose statements end after `timeout`.
    pub(super) fn open(path: &Path, count: usize, timeout: Duration) -> Result<Self, Error> {
        let keys = (count / 2).clamp(1, KEY_READERS);
        let lists = count.saturating_sub(keys).clamp(1, LIST_READERS);
        Ok(Self {
            keys: (0..keys)
                .map(|_| KeyReader::open(path).map(Mutex::new))
                .collect::<Result<_, _>>()?,
            late_keys: ReaderThreads::start(path, "kurz-keys", 1, timeout, || {})?,
            lists: ReaderThreads::start(path, "kurz-lists", lists, timeout, give_way)?,
        })
    }

    pub(super) async fn find(
        &self,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, Error> {
        let threads = match self.free_key_reader().map(|reader| reader.run(sql, params)) {
            Some(Ok(rows)) => return Ok(rows.into_iter().next()),
            Some(Err(error)) => match error.sqlite_error_code() {
                Some(ErrorCode::OperationInterrupted) => &self.lists,
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => &self.late_keys,
                _ => return Err(failed(&error)),
            },
            None => &self.late_keys,
        };
        let params = params.iter().cloned().map(SqlValue::into_owned).collect();
        Ok(threads.run(sql, params).await?.into_iter().next())
    }

    pub(super) async fn list(
        &self,
        sql: Sql,
        params: Vec<SqlValue<'_>>,
    ) -> Result<Vec<SqlRow>, Error> {
        self.lists.run(sql, params.into_iter().map(SqlValue::into_owned).collect()).await
    }

    /// The first that is free, so that the same pages stay in few caches.
    fn free_key_reader(&self) -> Option<MutexGuard<'_, KeyReader>> {
        self.keys.iter().find_map(|one| one.try_lock().ok())
    }
}

/// A connection for the worker that asks.
#[derive(Debug)]
struct KeyReader {
    db: Connection,
    looks: Arc<AtomicU32>,
}

impl KeyReader {
    fn open(path: &Path) -> Result<Self, Error> {
        let mut db = connect_reader(path)?;
        let looks = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&looks);
        let is_scan = move || counted.fetch_add(1, Ordering::Relaxed) + 1 >= LOOKS;
        db.busy_timeout(Duration::ZERO).map_err(|error| failed(&error))?;
        db.progress_handler(STEPS, Some(is_scan)).map_err(|error| failed(&error))?;
        Ok(Self { db, looks })
    }

    fn run(&self, sql: Sql, params: &[SqlValue<'_>]) -> rusqlite::Result<Vec<SqlRow>> {
        self.looks.store(0, Ordering::Relaxed);
        read_rows(&mut *self.db.prepare_cached(sql.sqlite_text())?, params)
    }
}

struct ReadJob {
    sql: Sql,
    params: Vec<SqlValue<'static>>,
    queued: Stopwatch,
    reply: oneshot::Sender<Result<Vec<SqlRow>, Error>>,
}

/// Threads with a connection each. They end when this is dropped.
#[derive(Debug)]
struct ReaderThreads {
    jobs: mpsc::Sender<ReadJob>,
}

impl ReaderThreads {
    fn start(
        path: &Path,
        name: &str,
        count: usize,
        timeout: Duration,
        prepare: fn(),
    ) -> Result<Self, Error> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..count {
            let (queue, mut reader) = (Arc::clone(&queue), TimedReader::open(path, timeout)?);
            let work = move || {
                prepare();
                reader.read_all(&queue);
            };
            let started = thread::Builder::new().name(name.to_owned()).spawn(work);
            started.map_err(|error| Error::Open(format!("cannot start a reader: {error}")))?;
        }
        Ok(Self { jobs })
    }

    async fn run(&self, sql: Sql, params: Vec<SqlValue<'static>>) -> Result<Vec<SqlRow>, Error> {
        let (reply, answer) = oneshot::channel();
        let job = ReadJob { sql, params, queued: Stopwatch::start(), reply };
        self.jobs.try_send(job).map_err(|_| too_many())?;
        answer.await.map_err(|_| Error::Unavailable("the reader has stopped".to_owned()))?
    }
}

/// A connection whose statements end at the statement timeout.
struct TimedReader {
    db: Connection,
    /// Since when the present statement runs.
    since: Arc<Mutex<Stopwatch>>,
    timeout: Duration,
}

impl TimedReader {
    fn open(path: &Path, timeout: Duration) -> Result<Self, Error> {
        let mut db = connect_reader(path)?;
        let since = Arc::new(Mutex::new(Stopwatch::start()));
        let watch = Arc::clone(&since);
        let is_over = move || lock(&watch).elapsed() > timeout;
        db.progress_handler(STEPS, Some(is_over)).map_err(|error| failed(&error))?;
        Ok(Self { db, since, timeout })
    }

    fn read_all(&mut self, queue: &Mutex<mpsc::Receiver<ReadJob>>) {
        loop {
            let job = lock(queue).blocking_recv();
            let Some(ReadJob { sql, params, queued, reply }) = job else { return };
            // The request may have been cancelled; then nobody receives the answer.
            if reply.is_closed() {
                continue;
            }
            let answer = if queued.elapsed() > self.timeout {
                Err(too_many())
            } else {
                self.run(sql, &params)
            };
            let _ = reply.send(answer);
        }
    }

    fn run(&self, sql: Sql, params: &[SqlValue<'_>]) -> Result<Vec<SqlRow>, Error> {
        *lock(&self.since) = Stopwatch::start();
        let statement = self.db.prepare_cached(sql.sqlite_text());
        let rows = statement.and_then(|mut statement| read_rows(&mut statement, params));
        rows.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => {
                Error::TooSlow(format!("it was stopped after {:?}", self.timeout))
            }
            _ => failed(&error),
        })
    }
}

fn too_many() -> Error {
    Error::Unavailable("too many lists are being read at the same time".to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Let the threads that serve redirects go first. On Linux this is about the calling thread alone.
fn give_way() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: &str =
        "with recursive n (n) as (select 1 union all select n + 1 from n where n < $1)
        select count(*) from n";
    const SCAN: Sql = Sql::constant("SCAN", COUNT);
    const KEY: Sql = Sql::constant("KEY", "select $1");

    /// Steps for a minute at least.
    const FOREVER: [SqlValue<'static>; 1] = [SqlValue::Int(1 << 40)];

    fn readers(timeout: Duration) -> (tempfile::TempDir, Arc<SqliteReaders>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kurz.db");
        crate::store::sqlite::connect_writer(&path).unwrap();
        let readers = SqliteReaders::open(&path, 10, timeout).unwrap();
        (folder, Arc::new(readers))
    }

    fn in_background(
        readers: &Arc<SqliteReaders>,
    ) -> tokio::task::JoinHandle<Result<Vec<SqlRow>, Error>> {
        let readers = Arc::clone(readers);
        #[expect(clippy::disallowed_methods, reason = "each test awaits or aborts it")]
        tokio::spawn(async move { readers.list(SCAN, FOREVER.to_vec()).await })
    }

    /// One worker: were any look-up to wait for a list, nothing else could run, and the test would hang.
    #[tokio::test]
    async fn lists_that_take_every_list_reader_do_not_keep_a_look_up_waiting() {
        let (_folder, readers) = readers(Duration::from_secs(5));
        let lists: Vec<_> = (0..16).map(|_| in_background(&readers)).collect();
        tokio::task::yield_now().await;
        for at in 0..10_000 {
            let row = readers.find(KEY, &[SqlValue::Int(at)]).await.unwrap().unwrap();
            assert_eq!(row.int(0).unwrap(), at);
        }
        assert!(
            lists.iter().all(|list| !list.is_finished()),
            "the lists were being read meanwhile"
        );
    }

    #[tokio::test]
    async fn a_list_is_stopped_at_the_statement_timeout_and_its_reader_goes_on() {
        let (_folder, readers) = readers(Duration::from_millis(50));
        for _ in 0..10 {
            let error = readers.list(SCAN, FOREVER.to_vec()).await.unwrap_err();
            assert!(matches!(error, Error::TooSlow(_)), "{error}");
        }
        let rows = readers.list(SCAN, vec![SqlValue::Int(3)]).await.unwrap();
        assert_eq!(rows[0].int(0).unwrap(), 3);
    }

    #[tokio::test]
    async fn a_look_up_that_finds_no_connection_free_is_handed_to_a_thread() {
        let (_folder, readers) = readers(Duration::from_secs(5));
        let taken: Vec<_> = readers.keys.iter().map(|one| one.try_lock().unwrap()).collect();
        let row = readers.find(KEY, &[SqlValue::Int(7)]).await.unwrap().unwrap();
        assert_eq!(row.int(0).unwrap(), 7);
        drop(taken);
    }

    #[tokio::test]
    async fn a_look_up_that_is_a_scan_leaves_the_worker() {
        let (_folder, readers) = readers(Duration::from_millis(50));
        let error = readers.find(SCAN, &FOREVER).await.unwrap_err();
        assert!(matches!(error, Error::TooSlow(_)), "it reached the threads: {error}");
        let (_folder, readers) = self::readers(Duration::from_mins(10));
        let row = readers.find(SCAN, &[SqlValue::Int(100_000)]).await.unwrap().unwrap();
        assert_eq!(row.int(0).unwrap(), 100_000);
    }

    /// The same statement, again and again: SQLite's count of steps goes on from one run to the next.
    #[tokio::test]
    async fn many_short_look_ups_are_not_taken_for_a_scan() {
        let (_folder, readers) = readers(Duration::from_secs(5));
        let reader = readers.free_key_reader().unwrap();
        for _ in 0..20_000 {
            reader.run(SCAN, &[SqlValue::Int(10)]).unwrap();
        }
    }

    #[tokio::test]
    async fn more_lists_than_can_wait_are_refused() {
        let (_folder, readers) = readers(Duration::from_secs(5));
        let lists: Vec<_> = (0..QUEUE + LIST_READERS).map(|_| in_background(&readers)).collect();
        let refused = loop {
            tokio::task::yield_now().await;
            let list = in_background(&readers);
            tokio::task::yield_now().await;
            if list.is_finished() {
                break list.await.unwrap();
            }
        };
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        drop(lists);
    }
}
