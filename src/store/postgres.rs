//! PostgreSQL: a pool of connections with prepared statements. The steps of a batch travel
//! together (pipelined) inside one transaction; a bulk load travels as one stream.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use deadpool_postgres::{Connect, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use futures_util::future::try_join_all;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Statement};

use crate::clock::Timestamp;
use crate::store::Error;
use crate::store::driver::{Load, Outcome, Sql, Step};
use crate::store::value::{Row, Value};

/// How long to wait for a connection, from the pool or to the server.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a batch that lost against another one (deadlock, serialization) is tried.
const TRIES: usize = 5;
/// The server's clock, not the transaction's.
const NOW: &str = "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";

/// A pool of connections to one PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    pool: Pool,
}

impl Postgres {
    /// Prepare a pool; nothing is connected yet. Its connections live on the runtime that calls
    /// this.
    pub(crate) fn pool(url: &str, size: usize, statement_timeout: Duration) -> Result<Self, Error> {
        let mut config: Config = url.parse().map_err(|error| {
            Error::Open(format!("the PostgreSQL address (KURZ_STORE) is not valid: {error}"))
        })?;
        let given = config.get_options().unwrap_or_default().to_owned();
        let timeout = statement_timeout.as_millis();
        // Both: a process that is stopped in the middle of a transaction must not keep what it has
        // locked from the other instances.
        config.options(format!(
            "-c statement_timeout={timeout} -c idle_in_transaction_session_timeout={timeout} {given}"
        ));
        config.connect_timeout(CONNECT);
        if config.get_application_name().is_none() {
            config.application_name("kurz");
        }
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let connect = AtHome(Handle::current());
        let pool = Pool::builder(Manager::from_connect(config, connect, recycling))
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(CONNECT))
            .build()
            .map_err(|error| Error::Open(format!("cannot prepare the pool: {error}")))?;
        Ok(Self { pool })
    }

    /// A connection of one's own, for what is no prepared statement: migrations.
    pub(crate) async fn connection(&self) -> Result<Object, Error> {
        self.pool.get().await.map_err(|error| Error::Unavailable(cause(&error)))
    }

    pub(crate) async fn find(&self, sql: Sql, params: &[Value<'_>]) -> Result<Option<Row>, Error> {
        Ok(self.list(sql, params).await?.into_iter().next())
    }

    pub(crate) async fn list(&self, sql: Sql, params: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        let client = self.connection().await?;
        let statement = client.prepare_cached(sql.text()).await.map_err(|error| failed(&error))?;
        query(&client, &statement, params).await.map_err(|error| failed(&error))
    }

    pub(crate) async fn batch(&self, steps: Vec<Step>) -> Result<Outcome, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut client = self.connection().await?;
            match run_steps(&mut client, &steps).await {
                Ok(outcome) => return Ok(outcome),
                Err(error) if tries < TRIES && lost_a_race(&error) => {}
                Err(error) => return Err(failed(&error)),
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
}

/// One statement for all rows. Moving 100,000 links with their tags, comparison included, took 7 to
/// 15 s this way and 18 to 33 s as pipelined inserts (debug build, a busy machine).
async fn stream_rows(client: &mut Object, load: &Load) -> Result<(), tokio_postgres::Error> {
    let read = client.prepare_cached(load.read.text()).await?;
    let types: Vec<Type> = read.columns().iter().map(|column| column.type_().clone()).collect();
    let transaction = client.transaction().await?;
    if let Some(clear) = &load.clear {
        let statement = transaction.prepare_cached(clear.sql.text()).await?;
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

/// Opens connections on one runtime, whoever asks for them. Each worker of the server has a runtime
/// of its own, and the first to end would take its connections with it, under the requests that
/// the others still have in flight.
struct AtHome(Handle);

type Connecting<'a> = Pin<
    Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + 'a>,
>;

impl Connect for AtHome {
    fn connect(&self, config: &Config) -> Connecting<'_> {
        let config = config.clone();
        Box::pin(async move {
            let mut connecting = pin!(config.connect(NoTls));
            let (client, connection) = poll_fn(|context| {
                // A socket belongs to the runtime in which it was made.
                let _inside = self.0.enter();
                connecting.as_mut().poll(context)
            })
            .await?;
            let driver = self.0.spawn(async move {
                if let Err(error) = connection.await {
                    tracing::warn!(error = cause(&error), "a connection to PostgreSQL broke");
                }
            });
            Ok((client, driver))
        })
    }
}

async fn run_steps(client: &mut Object, steps: &[Step]) -> Result<Outcome, tokio_postgres::Error> {
    if let [step] = steps
        && !step.must_give_row
    {
        let statement = client.prepare_cached(step.sql.text()).await?;
        return Ok(Outcome::Done(vec![query(client, &statement, &step.params).await?]));
    }
    // A batch of a thousand steps has a handful of statements: each is looked up once.
    let mut known: HashMap<Sql, Statement> = HashMap::new();
    let mut statements = Vec::with_capacity(steps.len());
    for step in steps {
        let statement = match known.get(&step.sql) {
            Some(statement) => statement.clone(),
            None => client.prepare_cached(step.sql.text()).await?,
        };
        known.entry(step.sql).or_insert_with(|| statement.clone());
        statements.push(statement);
    }
    let transaction = client.transaction().await?;
    let all = steps
        .iter()
        .zip(&statements)
        .map(|(step, statement)| query(&transaction, statement, &step.params));
    let rows = try_join_all(all).await?;
    let missed: Vec<usize> = steps
        .iter()
        .zip(&rows)
        .enumerate()
        .filter(|(_, (step, rows))| step.must_give_row && rows.is_empty())
        .map(|(at, _)| at)
        .collect();
    if missed.is_empty() {
        transaction.commit().await?;
        return Ok(Outcome::Done(rows));
    }
    transaction.rollback().await?;
    Ok(Outcome::Undone(missed))
}

async fn query(
    client: &impl deadpool_postgres::GenericClient,
    statement: &Statement,
    params: &[Value<'_>],
) -> Result<Vec<Row>, tokio_postgres::Error> {
    let params: Vec<&(dyn ToSql + Sync)> =
        params.iter().map(|value| -> &(dyn ToSql + Sync) { value }).collect();
    if statement.columns().is_empty() {
        let changed = client.execute(statement, &params).await?;
        return Ok(if changed > 0 { vec![Row(Vec::new())] } else { Vec::new() });
    }
    let rows = client.query(statement, &params).await?;
    rows.iter().map(read_row).collect()
}

fn read_row(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    let read = |(at, column): (usize, &tokio_postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.into(),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.into(),
            Type::BYTEA => row
                .try_get::<_, Option<Vec<u8>>>(at)?
                .map_or(Value::Null, |blob| Value::Blob(blob.into())),
            // Anything else is read as text, and refused by the library when it is not.
            _ => row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::owned),
        })
    };
    row.columns().iter().enumerate().map(read).collect::<Result<_, _>>().map(Row)
}

/// Whether the same batch, tried again, may well succeed.
fn lost_a_race(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE)
    )
}

/// What an error comes down to: those around it say little more than that there was one.
fn cause(error: &(dyn StdError + 'static)) -> String {
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
        SqlState::FOREIGN_KEY_VIOLATION => Error::Dangling(text),
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Corrupt(text),
        SqlState::QUERY_CANCELED
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
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

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => return Ok(IsNull::Yes),
            Value::Int(int) => out.put_i64(*int),
            Value::Real(real) => out.put_f64(*real),
            Value::Text(text) => out.put_slice(text.as_bytes()),
            Value::Blob(blob) => out.put_slice(blob),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        // A test prepares every statement and compares its parameter types with these four.
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
