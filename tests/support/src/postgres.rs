//! A PostgreSQL database of its own for each test, empty, on the server of `TEST_POSTGRES_URL`. It
//! starts no server and runs no migrations. No two tests ever see the same database.

use std::process;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{LazyLock, Mutex};
use std::thread;

use url::Url;

/// An empty database; dropped with this value, even while somebody is still connected to it.
pub struct Database {
    name: String,
    url: Url,
}

impl Database {
    /// Create one; about 25 ms. Blocks, and may be called from synchronous and asynchronous tests.
    pub fn create() -> Self {
        let mut url = crate::server_url("TEST_POSTGRES_URL");
        let (answer, created) = sync_channel(1);
        send(Request::Create { answer });
        let name = created.recv().expect("the thread that creates databases explains its end");
        url.set_path(&name);
        Self { name, url }
    }

    /// Its `postgres://` address, for the owner of the whole server.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Nobody waits: the server is temporary as well, this only keeps its folder small.
        send(Request::Drop { name: std::mem::take(&mut self.name) });
    }
}

/// A connection that ends with the client.
pub async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::runtime::Handle::current().spawn(connection);
    client
}

enum Request {
    Create { answer: SyncSender<String> },
    Drop { name: String },
}

/// Hand `request` to the one thread that talks to the server: one connection serves all tests, and a
/// thread of its own makes `Drop` work wherever the test's runtime is by then.
fn send(request: Request) {
    static SENDER: LazyLock<Mutex<SyncSender<Request>>> = LazyLock::new(|| {
        let (sender, requests) = sync_channel(64);
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a thread may have a runtime");
            let url = crate::server_url("TEST_POSTGRES_URL");
            let (client, connection) = runtime
                .block_on(tokio_postgres::connect(url.as_str(), tokio_postgres::NoTls))
                .expect("the server of TEST_POSTGRES_URL answers");
            runtime.spawn(connection);
            for (number, request) in requests.iter().enumerate() {
                runtime.block_on(serve(&client, number, request));
            }
        });
        Mutex::new(sender)
    });
    let sender = SENDER.lock().map_or_else(|poisoned| poisoned.into_inner().clone(), |s| s.clone());
    // It fails only after that thread has panicked, whose words say more than ours could; and in a
    // `Drop` a second panic would hide the first.
    let _ = sender.send(request);
}

async fn serve(client: &tokio_postgres::Client, number: usize, request: Request) {
    match request {
        Request::Create { answer } => {
            // Other test binaries may use the same server: hence the process id. Copying files takes
            // less than half the time of `wal_log`, the default: 22 against 51 ms.
            let name = format!("kurz_{}_{number}", process::id());
            let sql = format!("create database {name} template template0 strategy file_copy");
            client.batch_execute(&sql).await.expect("the superuser may create a database");
            let _ = answer.send(name);
        }
        Request::Drop { name } => {
            let sql = format!("drop database if exists {name} with (force)");
            let _ = client.batch_execute(&sql).await;
        }
    }
}

#[tokio::test]
async fn every_test_gets_an_empty_database_of_its_own() {
    let (one, two) = (Database::create(), Database::create());
    let (in_one, in_two) = (connect(one.url()).await, connect(two.url()).await);
    in_one.batch_execute("create table here (id bigint)").await.unwrap();
    let tables = "select count(*) from pg_tables where schemaname = 'public'";
    let count = in_two.query_one(tables, &[]).await.unwrap().get::<_, i64>(0);
    assert_eq!(count, 0, "a table of one database is not in the other");

    let name = one.name.clone();
    drop(one);
    // Requests are served in order, so the drop is done once another database exists.
    drop(Database::create());
    let left = in_two.query("select 1 from pg_database where datname = $1", &[&name]).await;
    assert!(left.unwrap().is_empty(), "{name} is dropped although a client was connected");
}
