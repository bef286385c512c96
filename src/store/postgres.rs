//! PostgreSQL: a pool of connections with prepared statements. The steps of a batch travel
//! together (pipelined) inside one transaction; a bulk load travels as one stream.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use deadpool_postgres::{Connect, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::future::{join_all, try_join_all};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, Connection, Socket, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::config::{StoreConfig, StoreUrl};
use crate::store::Error;
use crate::store::driver::{Load, Outcome, Sql, Step};
use crate::store::tls;
use crate::store::value::{SqlRow, SqlValue};
use kurz_core::time::Timestamp;

/// How long to wait for a connection, from the pool or to the server.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a connection may be silent before it is asked whether it is still there, how often that
/// is tried, and after how long what was sent and not received is given up.
const SILENT: Duration = Duration::from_secs(30);
const ASK: Duration = Duration::from_secs(5);
const UNHEARD: Duration = Duration::from_secs(15);
/// What a server may need beyond the time of a statement to say that it is over.
const GRACE: Duration = Duration::from_secs(1);
const BATCH: u32 = 6;
/// How often a batch that lost against another one (deadlock, serialization) is tried.
const TRIES: usize = 5;
/// The server's clock, not the transaction's.
const NOW: &str = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
const NOTIFY: &str = "select pg_notify($1, $2)";

/// A pool of connections to one PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
    config: Box<Config>,
    tls: PostgresTls,
    idle: usize,
    /// How long to wait for the answer to one statement. The server ends a statement itself; this
    /// is for a server that no longer answers.
    patience: Duration,
}

impl Postgres {
    /// Prepare a pool; nothing is connected yet. Its connections live on the runtime that calls
    /// this.
    pub(crate) fn pool(url: &str, settings: &StoreConfig) -> Result<Self, Error> {
        if StoreUrl::Postgres(url.to_owned()).has_bare_password_sign() {
            return Err(Error::Open(
                "the password in the PostgreSQL address (KURZ_STORE) has a sign that ends it: \
                 percent-encode it, @ as %40, / as %2F, # as %23"
                    .to_owned(),
            ));
        }
        let mut config: Config = url.parse().map_err(|error| {
            Error::Open(format!(
                "the PostgreSQL address (KURZ_STORE) is not valid: {error}; percent-encode signs in \
                 the password, such as @ as %40"
            ))
        })?;
        let given = config.get_options().unwrap_or_default().to_owned();
        let statement = settings.statement_timeout.as_millis();
        // Every statement reads by indexes, of tables that are mostly in memory: without the cost of pages
        // in any order, PostgreSQL prefers to read a whole table for a page of a list.
        // Both timeouts: a process that is stopped in the middle of a transaction must not keep what it has
        // locked from the other instances.
        config.options(format!(
            "-c statement_timeout={statement} -c idle_in_transaction_session_timeout={statement} \
             -c random_page_cost=1.1 {given}"
        ));
        config.connect_timeout(CONNECT);
        config.keepalives_idle(SILENT).keepalives_interval(ASK).tcp_user_timeout(UNHEARD);
        if config.get_application_name().is_none() {
            config.application_name("kurz");
        }
        let tls = PostgresTls(tls::protect(&mut config, settings.tls, settings.tls_ca.as_deref())?);
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let connect = ConnectOnHomeRuntime { home: Handle::current(), tls: tls.clone() };
        let pool = Pool::builder(Manager::from_connect(config.clone(), connect, recycling))
            .max_size(settings.pool_size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(CONNECT))
            .build()
            .map_err(|error| Error::Open(format!("cannot prepare the pool: {error}")))?;
        let idle = settings.pool_idle.min(settings.pool_size);
        let patience = settings.statement_timeout + GRACE;
        Ok(Self { pool, config: Box::new(config), tls, idle, patience })
    }

    /// Keep the idle connections of the pool open, and check that one of them answers.
    pub(crate) async fn keep_connections_open(&self) {
        if self.pool.status().size < self.idle {
            // All at once: one after the other would be the same connection each time.
            join_all((0..self.idle).map(|_| self.pool.get())).await;
        }
        if self.pool.status().available > 0
            && let Ok(client) = self.connection().await
            && !matches!(timeout(self.patience, client.check_connection()).await, Ok(Ok(())))
        {
            drop(Object::take(client));
        }
    }

    pub(super) async fn connect_apart(
        &self,
    ) -> Result<(Client, PostgresConnection), tokio_postgres::Error> {
        self.config.connect(self.tls.0.clone()).await
    }

    /// Do something on a connection, and close the connection when the server does not answer.
    async fn within<T, E>(
        &self,
        patience: Duration,
        mut client: Object,
        work: impl AsyncFnOnce(&mut Object) -> Result<T, E>,
    ) -> Result<Result<T, E>, Error> {
        if let Ok(done) = timeout(patience, work(&mut client)).await {
            return Ok(done);
        }
        // A late answer must not reach the next caller.
        drop(Object::take(client));
        Err(Error::Unavailable("PostgreSQL does not answer in time".to_owned()))
    }

    /// A connection of one's own, for what is no prepared statement: migrations.
    pub(crate) async fn connection(&self) -> Result<Object, Error> {
        self.pool.get().await.map_err(|error| Error::Unavailable(cause(&error)))
    }

    pub(crate) async fn find(
        &self,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Result<Option<SqlRow>, Error> {
        Ok(self.list(sql, params).await?.into_iter().next())
    }

    pub(crate) async fn list(
        &self,
        sql: Sql,
        params: &[SqlValue<'_>],
    ) -> Result<Vec<SqlRow>, Error> {
        let client = self.connection().await?;
        let read = async |client: &mut Object| {
            let statement = client.prepare_cached(sql.postgres_text()).await?;
            query(client, &statement, params).await
        };
        self.within(self.patience, client, read).await?.map_err(|error| failed(&error))
    }

    pub(crate) async fn batch(&self, steps: Vec<Step>) -> Result<Outcome, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let client = self.connection().await?;
            let run = async |client: &mut Object| run_steps(client, &steps).await;
            match self.within(BATCH * self.patience, client, run).await? {
                Ok(outcome) => return Ok(outcome),
                Err(failure) if tries < TRIES && lost_a_race(&failure.error) => {}
                Err(failure) => return Err(failed(&failure.error).in_statement(failure.statement)),
            }
        }
    }

    pub(crate) async fn load(&self, load: Load) -> Result<(), Error> {
        let mut client = self.connection().await?;
        stream_rows(&mut client, &load).await.map_err(|error| failed(&error))
    }

    /// What time it is for the server.
    pub(crate) async fn now(&self) -> Result<Timestamp, Error> {
        let client = self.connection().await?;
        let row = client.query_one(NOW, &[]).await.map_err(|error| failed(&error))?;
        row.try_get(0).map(Timestamp::from_ms).map_err(|error| failed(&error))
    }

    /// Say `text` to all who listen on `channel`.
    pub(super) async fn notify(&self, channel: &str, text: &str) -> Result<(), Error> {
        let client = self.connection().await?;
        let say = async |client: &mut Object| client.execute(NOTIFY, &[&channel, &text]).await;
        let said = self.within(self.patience, client, say).await?;
        said.map(|_| ()).map_err(|error| failed(&error))
    }
}

/// One statement for all rows. Moving 100,000 links with their tags, comparison included, took 7 to
/// 15 s this way and 18 to 33 s as pipelined inserts (debug build, a busy machine).
async fn stream_rows(client: &mut Object, load: &Load) -> Result<(), tokio_postgres::Error> {
    let read = client.prepare_cached(load.read.postgres_text()).await?;
    let types: Vec<Type> = read.columns().iter().map(|column| column.type_().clone()).collect();
    let transaction = client.transaction().await?;
    if let Some(clear) = &load.clear {
        let statement = transaction.prepare_cached(clear.sql.postgres_text()).await?;
        query(&transaction, &statement, &clear.params).await?;
    }
    let copy = transaction.prepare_cached(load.bulk.text()).await?;
    let sink = transaction.copy_in(&copy).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for row in &load.rows {
        writer.as_mut().write_raw(&row.0).await?;
    }
    writer.finish().await?;
    transaction.commit().await
}

/// Opens all connections on one runtime. Each worker of the server has a runtime
/// of its own, and the first to end would take its connections with it, under the requests that
/// the others still have in flight.
struct ConnectOnHomeRuntime {
    home: Handle,
    tls: PostgresTls,
}

#[derive(Clone)]
struct PostgresTls(MakeRustlsConnect);

impl fmt::Debug for PostgresTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresTls")
    }
}

/// The part of a connection that reads and writes.
pub(super) type PostgresConnection =
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

type ConnectFuture<'a> = Pin<
    Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + 'a>,
>;

impl Connect for ConnectOnHomeRuntime {
    fn connect(&self, config: &Config) -> ConnectFuture<'_> {
        let config = config.clone();
        Box::pin(async move {
            let mut connecting = pin!(config.connect(self.tls.0.clone()));
            let (client, connection) = poll_fn(|context| {
                // A socket belongs to the runtime in which it was made.
                let _inside = self.home.enter();
                connecting.as_mut().poll(context)
            })
            .await?;
            let driver = self.home.spawn(async move {
                if let Err(error) = connection.await {
                    tracing::warn!(error = cause(&error), "a connection to PostgreSQL broke");
                }
            });
            Ok((client, driver))
        })
    }
}

/// A statement of a batch that failed.
struct StepFailure {
    statement: &'static str,
    error: tokio_postgres::Error,
}

/// Name the statement that an error belongs to.
fn named(statement: &'static str) -> impl FnOnce(tokio_postgres::Error) -> StepFailure {
    move |error| StepFailure { statement, error }
}

async fn run_steps(client: &mut Object, steps: &[Step]) -> Result<Outcome, StepFailure> {
    if let [step] = steps
        && !step.must_give_row
    {
        let name = step.sql.name();
        let statement =
            client.prepare_cached(step.sql.postgres_text()).await.map_err(named(name))?;
        let rows = query(client, &statement, &step.params).await.map_err(named(name))?;
        return Ok(Outcome::Done(vec![rows]));
    }
    // A batch of a thousand steps has a handful of statements: each is looked up once.
    let mut known: HashMap<&'static str, Statement> = HashMap::new();
    let mut statements = Vec::with_capacity(steps.len());
    for step in steps {
        let name = step.sql.name();
        let statement = match known.get(name) {
            Some(statement) => statement.clone(),
            None => client.prepare_cached(step.sql.postgres_text()).await.map_err(named(name))?,
        };
        known.entry(name).or_insert_with(|| statement.clone());
        statements.push(statement);
    }
    let transaction = client.transaction().await.map_err(named("begin"))?;
    let all = steps.iter().zip(&statements).map(async |(step, statement)| {
        query(&transaction, statement, &step.params).await.map_err(named(step.sql.name()))
    });
    let rows = try_join_all(all).await?;
    let missed: Vec<usize> = steps
        .iter()
        .zip(&rows)
        .enumerate()
        .filter(|(_, (step, rows))| step.must_give_row && rows.is_empty())
        .map(|(at, _)| at)
        .collect();
    if missed.is_empty() {
        transaction.commit().await.map_err(named("commit"))?;
        return Ok(Outcome::Done(rows));
    }
    transaction.rollback().await.map_err(named("rollback"))?;
    Ok(Outcome::Undone(missed))
}

async fn query(
    client: &impl deadpool_postgres::GenericClient,
    statement: &Statement,
    params: &[SqlValue<'_>],
) -> Result<Vec<SqlRow>, tokio_postgres::Error> {
    let params: Vec<&(dyn ToSql + Sync)> =
        params.iter().map(|value| -> &(dyn ToSql + Sync) { value }).collect();
    if statement.columns().is_empty() {
        let changed = client.execute(statement, &params).await?;
        return Ok(if changed > 0 { vec![SqlRow(Vec::new())] } else { Vec::new() });
    }
    let rows = client.query(statement, &params).await?;
    rows.iter().map(read_row).collect()
}

fn read_row(row: &tokio_postgres::Row) -> Result<SqlRow, tokio_postgres::Error> {
    let read = |(at, column): (usize, &tokio_postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.into(),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.into(),
            Type::BYTEA => row
                .try_get::<_, Option<Vec<u8>>>(at)?
                .map_or(SqlValue::Null, |blob| SqlValue::Blob(blob.into())),
            // Anything else is read as text, and refused by the library when it is not.
            _ => row.try_get::<_, Option<String>>(at)?.map_or(SqlValue::Null, SqlValue::owned),
        })
    };
    row.columns().iter().enumerate().map(read).collect::<Result<_, _>>().map(SqlRow)
}

/// Whether the same batch, tried again, may well succeed.
fn lost_a_race(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE)
    )
}

/// What an error comes down to: those around it say little more than that there was one.
pub(super) fn cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Sort an error by what its caller can do about it.
pub(crate) fn failed(error: &tokio_postgres::Error) -> Error {
    let text = cause(error);
    let Some(state) = error.code() else {
        // Without a state the server said nothing: the connection broke.
        let broke =
            error.is_closed() || error.source().is_some_and(<dyn StdError>::is::<std::io::Error>);
        return if broke { Error::Unavailable(text) } else { Error::Refused(text) };
    };
    match *state {
        SqlState::DISK_FULL => Error::Full(text),
        SqlState::FOREIGN_KEY_VIOLATION | SqlState::NOT_NULL_VIOLATION => Error::Dangling(text),
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Corrupt(text),
        SqlState::QUERY_CANCELED => Error::TooSlow(text),
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => Error::Unavailable(text),
        // Classes 08 (connection), 53 (resources), 57 (the operator's doing), 58 (the system).
        ref state if ["08", "53", "57", "58"].contains(&state.code().get(..2).unwrap_or("")) => {
            Error::Unavailable(text)
        }
        _ => Error::Refused(text),
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            SqlValue::Null => return Ok(IsNull::Yes),
            SqlValue::Int(int) => out.put_i64(*int),
            SqlValue::Real(real) => out.put_f64(*real),
            SqlValue::Text(text) => out.put_slice(text.as_bytes()),
            SqlValue::Blob(blob) => out.put_slice(blob),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        // A test prepares every statement and compares its parameter types with these four.
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
