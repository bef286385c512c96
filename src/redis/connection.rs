//! A connection to one server or to a cluster, and its subscription.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::{MultiplexedConnection, SendError};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind,
    RedisError, TlsCertificates, Value,
};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::timeout;

use crate::config::RedisUrl;

const CONNECT: Duration = Duration::from_secs(1);
/// The library's own timeout of a response; calls have shorter ones.
const ANSWER: Duration = Duration::from_secs(5);
/// Messages that may wait to be read.
const WAITING: usize = 4096;

#[derive(Clone)]
pub(super) enum RedisConnection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

#[derive(Debug)]
pub struct Subscription {
    events: mpsc::Receiver<PubSubEvent>,
    /// Set when the queue was full.
    missed: Arc<AtomicBool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PubSubEvent {
    Text(String),
    /// A message may have been missed.
    Lost,
}

impl Subscription {
    /// The next event; `None` when the subscription has ended.
    pub async fn next(&mut self) -> Option<PubSubEvent> {
        if self.missed.swap(false, Ordering::AcqRel) {
            return Some(PubSubEvent::Lost);
        }
        self.events.recv().await
    }
}

/// Connect and subscribe to `channel`.
pub(super) async fn connect(
    url: &RedisUrl,
    authorities: Option<&Path>,
    channel: &str,
) -> Result<(RedisConnection, Subscription), RedisError> {
    let (sender, events) = mpsc::channel(WAITING);
    let missed = Arc::new(AtomicBool::new(false));
    let subscription = Subscription { events, missed: Arc::clone(&missed) };
    let on_push = move |push: PushInfo| -> Result<(), SendError> {
        let Some(event) = event(push) else { return Ok(()) };
        match sender.try_send(event) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => {
                missed.store(true, Ordering::Release);
                Ok(())
            }
            Err(TrySendError::Closed(_)) => Err(SendError),
        }
    };
    let certificates = authorities.map(certificates).transpose()?;
    let connecting = async {
        if url.is_cluster() {
            let mut builder = ClusterClientBuilder::new(url.seeds().iter().map(String::as_str))
                .use_protocol(ProtocolVersion::RESP3)
                .push_sender(on_push)
                .connection_timeout(CONNECT)
                .response_timeout(ANSWER)
                .retries(2);
            if let Some(certificates) = certificates {
                builder = builder.certs(certificates);
            }
            let mut connection = builder.build()?.get_async_connection().await?;
            connection.ssubscribe(channel).await?;
            return Ok(RedisConnection::Cluster(connection));
        }
        let seed = url.seeds().first().map(String::as_str).unwrap_or_default();
        let info = seed.into_connection_info()?;
        let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let info = info.set_redis_settings(redis);
        let client = match certificates {
            Some(certificates) => Client::build_with_tls(info, certificates)?,
            None => Client::open(info)?,
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(ANSWER))
            .set_push_sender(on_push);
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        connection.subscribe(channel).await?;
        Ok(RedisConnection::One(connection))
    };
    // A cluster's connection can hang beyond its own timeouts.
    let late = |_| RedisError::from((redis::ErrorKind::Io, "it does not answer"));
    let connection: Result<RedisConnection, RedisError> =
        timeout(3 * CONNECT, connecting).await.map_err(late)?;
    Ok((connection?, subscription))
}

fn certificates(path: &Path) -> Result<TlsCertificates, RedisError> {
    let pem = std::fs::read(path).map_err(|error| {
        RedisError::from((redis::ErrorKind::Io, "KURZ_TLS_CA", error.to_string()))
    })?;
    Ok(TlsCertificates { client_tls: None, root_cert: Some(pem) })
}

fn event(push: PushInfo) -> Option<PubSubEvent> {
    match push.kind {
        PushKind::Message | PushKind::SMessage => match push.data.into_iter().nth(1) {
            Some(Value::BulkString(bytes)) => {
                Some(String::from_utf8(bytes).map_or(PubSubEvent::Lost, PubSubEvent::Text))
            }
            Some(Value::SimpleString(text)) => Some(PubSubEvent::Text(text)),
            _ => Some(PubSubEvent::Lost),
        },
        // A subscription that was moved to another node of a cluster left a gap as well.
        PushKind::Disconnection | PushKind::SUnsubscribe | PushKind::Unsubscribe => {
            Some(PubSubEvent::Lost)
        }
        _ => None,
    }
}
