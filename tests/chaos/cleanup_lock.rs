//! Five instances on one PostgreSQL that clean up in turn, while holders of the lock are killed and
//! stopped: never two at once, and never none for long. The times are the contract's, scaled down.
//!
//! The database itself keeps the minutes: triggers write down who takes the lock and who works under
//! it. Both happen while the lock's row is held, so the minutes are in the order of the facts.

use std::time::Duration;

use kurz::clock::Stopwatch;
use kurz_test_support::postgres::{Database, connect};
use kurz_test_support::{Process, TestServer};
use tokio_postgres::Client;

const INSTANCES: usize = 5;
/// Holders that are killed or stopped.
const BLOWS: usize = 10;
const AT_LEAST_MS: i64 = 400;
const AT_MOST_MS: i64 = 1_000;
/// How long the database waits for an instance that was stopped inside a transaction.
const STATEMENT_MS: i64 = 500;
const PATIENCE: Duration = Duration::from_mins(4);
/// What a busy machine may add to the time of a takeover.
const SLACK_MS: i64 = 3_000;

const MINUTES: &str = "
    create table minutes (n bigserial, at bigint, who text, what text, holder text);
    create function note() returns trigger language plpgsql as $$ begin
        insert into minutes (at, who, what, holder)
        select case tg_argv[0] when 'take' then l.locked_at else c.ms end,
            current_setting('application_name'), tg_argv[0], l.locked_by
        from database_clock c, locks l where l.name = 'cleanup';
        return null;
    end $$;
    create trigger taken after insert or update of locked_at on locks
        for each row when (new.name = 'cleanup') execute function note('take');
    create trigger worked after update of expired_at, purged_at on links
        for each statement execute function note('work');";

/// Links whose time is over, so that every cleanup has something to do for as long as it may take.
const WORK: &str = "insert into links (id, workspace, code, strategy, target, canonical_hash,
        redirect_status, created_at, updated_at, expires_at, version)
    select n, 'main', 'gone-' || n, 'random', 'https://example.com/', '', 302, 1, 1, 2, 1
    from generate_series((select coalesce(max(id), 1000000) + 1 from links),
        (select coalesce(max(id), 1000000) + 500 from links)) n
    where (select count(*) from links where purged_at is null) < 3000";

/// The instances that run, each under a name of its own.
struct Instances {
    url: String,
    running: Vec<Process>,
    started: usize,
}

impl Instances {
    fn start_one(&mut self) {
        self.started += 1;
        let program = TestServer::builder()
            .default_timeouts()
            .setting("KURZ_STORE", &format!("{}?application_name=kurz-{}", self.url, self.started))
            .setting("KURZ_POOL_SIZE", "3")
            .setting("KURZ_THREADS", "1")
            .setting("KURZ_STATEMENT_TIMEOUT", &format!("{STATEMENT_MS}ms"))
            .setting("KURZ_CLEANUP_DELAY", "0")
            .setting("KURZ_CLEANUP_INTERVAL", "100ms")
            .setting("KURZ_CLEANUP_LOCK_AT_LEAST", &format!("{AT_LEAST_MS}ms"))
            .setting("KURZ_CLEANUP_LOCK_AT_MOST", &format!("{AT_MOST_MS}ms"))
            .setting("KURZ_PURGE_GRACE", "0")
            .process();
        self.running.push(program.start());
    }

    /// The instance that calls itself `holder`, if it runs.
    fn find(&self, holder: &str) -> Option<usize> {
        let pid = holder.split('-').next()?;
        self.running.iter().position(|process| process.pid().to_string() == pid)
    }
}

// threats: E12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holders_are_killed_and_stopped_and_there_is_never_more_than_one() {
    let database = Database::create();
    let mut instances =
        Instances { url: database.url().to_owned(), running: Vec::new(), started: 0 };
    instances.start_one();
    let sql = connect(database.url()).await;
    sql.batch_execute(MINUTES).await.unwrap();
    while instances.running.len() < INSTANCES {
        instances.start_one();
    }
    let mut stopped: Vec<Process> = Vec::new();
    let watch = Stopwatch::start();
    for blow in 0..BLOWS {
        let holder = next_holder(&sql, watch).await;
        let Some(at) = instances.find(&holder) else { continue };
        let process = instances.running.swap_remove(at);
        if blow % 3 == 2 {
            process.kill_9();
            instances.start_one();
        } else {
            process.freeze();
            stopped.push(process);
        }
        // Those that were stopped long enough ago for somebody else to have taken over go on, in
        // the middle of what they were doing.
        if stopped.len() == 3 {
            for process in stopped.drain(..) {
                process.thaw();
                instances.running.push(process);
            }
        }
    }
    next_holder(&sql, watch).await;
    for process in stopped.drain(..) {
        process.thaw();
        instances.running.push(process);
    }
    next_holder(&sql, watch).await;
    read_minutes(&sql).await;
}

/// Wait until somebody works who was not there at the last look; who.
async fn next_holder(sql: &Client, watch: Stopwatch) -> String {
    let last = "select coalesce(max(n), 0) from minutes where what = 'take'";
    let before: i64 = sql.query_one(last, &[]).await.unwrap().get(0);
    loop {
        assert!(watch.elapsed() < PATIENCE, "nobody takes over");
        sql.batch_execute(WORK).await.unwrap();
        let next = "select holder from minutes where n > $1 and what = 'work' and exists
            (select 1 from minutes t where t.n > $1 and t.what = 'take') order by n desc limit 1";
        if let Some(row) = sql.query_opt(next, &[&before]).await.unwrap() {
            return row.get(0);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Every work is that of the last who took the lock; nobody takes it early, and nobody waits long.
async fn read_minutes(sql: &Client) {
    let minutes = "select at, who, what, holder from minutes order by n";
    let mut holder = None;
    let mut taken_at: Option<i64> = None;
    let (mut takes, mut works, mut longest) = (0, 0, 0);
    for row in sql.query(minutes, &[]).await.unwrap() {
        let (at, who): (i64, String) = (row.get(0), row.get(1));
        let (what, named): (String, String) = (row.get(2), row.get(3));
        if what == "work" {
            if holder.is_none() {
                // Of somebody who took the lock before minutes were kept.
                continue;
            }
            works += 1;
            assert_eq!(holder.as_ref(), Some(&(who, named)), "two at once, at {at}");
            continue;
        }
        if let Some(before) = taken_at {
            assert!(at - before >= AT_LEAST_MS, "taken again after {} ms", at - before);
            longest = longest.max(at - before);
        }
        takes += 1;
        holder = Some((who, named));
        taken_at = Some(at);
    }
    assert!(takes > BLOWS && works > takes, "{takes} takes, {works} works");
    let most = AT_MOST_MS + STATEMENT_MS + SLACK_MS;
    assert!(longest <= most, "nobody took over for {longest} ms");
}
