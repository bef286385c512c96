//! Messages between instances through PostgreSQL's `listen` and `notify`. An SQLite store has one instance.
//!
//! Invariant: when messages may have been missed, [`Listening::next`] fails and the caller subscribes
//! again.

use std::future::poll_fn;
use std::time::Duration;

use futures_util::future::{Either, select};
use std::pin::pin;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tokio_postgres::{AsyncMessage, Client};

use crate::store::driver::Db;
use crate::store::postgres::{Postgres, cause, failed};
use crate::store::{Error, Store};

/// The longest text that PostgreSQL carries, with room to spare.
pub const MOST_BYTES: usize = 7_000;
/// Messages that may wait to be read.
const WAITING: usize = 1024;
/// How often the connection is asked whether it is still there, and how long it may think.
const ASK_EVERY: Duration = Duration::from_secs(2);
const ASK_FOR: Duration = Duration::from_secs(2);

/// A connection on which messages come in.
#[derive(Debug)]
pub struct Listening {
    client: Client,
    messages: mpsc::Receiver<String>,
    ticks: Interval,
}

impl Listening {
    /// The next message; an error when the connection is gone.
    pub async fn next(&mut self) -> Result<String, Error> {
        loop {
            let message = pin!(self.messages.recv());
            let tick = pin!(self.ticks.tick());
            match select(message, tick).await {
                Either::Left((Some(message), _)) => return Ok(message),
                Either::Left((None, _)) => {
                    return Err(Error::Unavailable(
                        "the connection that listens was closed".to_owned(),
                    ));
                }
                Either::Right(_) => {
                    let asked = timeout(ASK_FOR, self.client.check_connection()).await;
                    let late = |_| Error::Unavailable("it is silent".to_owned());
                    asked.map_err(late)?.map_err(|error| failed(&error))?;
                }
            }
        }
    }
}

impl Store {
    /// Listen to what other instances say on `channel`; `None` on a database without others.
    pub async fn listen(&self, channel: &str) -> Result<Option<Listening>, Error> {
        match &self.db {
            Db::Sqlite(_) => Ok(None),
            Db::Postgres(db) => db.listen(channel).await.map(Some),
        }
    }

    /// Say `text` to all who listen on `channel`.
    pub async fn notify(&self, channel: &str, text: &str) -> Result<(), Error> {
        match &self.db {
            Db::Sqlite(_) => Ok(()),
            Db::Postgres(db) => db.notify(channel, text).await,
        }
    }
}

impl Postgres {
    /// On a connection of its own, which lives on the runtime that calls this.
    async fn listen(&self, channel: &str) -> Result<Listening, Error> {
        let (client, mut connection) =
            self.connect_apart().await.map_err(|error| Error::Unavailable(cause(&error)))?;
        let (sender, messages) = mpsc::channel(WAITING);
        #[expect(clippy::disallowed_methods, reason = "ends with the client, and holds nothing")]
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if let AsyncMessage::Notification(notification) = message
                    && sender.try_send(notification.payload().to_owned()).is_err()
                {
                    // The queue is full: the reader learns that messages are missing.
                    break;
                }
            }
        });
        // A channel is an identifier: quoted, it may hold anything.
        let listen = format!("listen \"{}\"", channel.replace('"', "\"\""));
        client.batch_execute(&listen).await.map_err(|error| failed(&error))?;
        let mut ticks = interval(ASK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Listening { client, messages, ticks })
    }
}
