//! DNS lookup and TCP connections, as a trait that tests implement, and for the real network. It decides
//! nothing: names are looked up as given, and connections only go to an [`AllowedAddress`].
//!
//! Invariant: at most [`MAX_LOOKUPS`] run at a time, including those whose caller has gone. Proxy
//! settings of the environment are not used.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};

use super::address::AllowedAddress;

/// The system's resolver cannot be cancelled, so a lookup that hangs keeps its permit until it ends.
const MAX_LOOKUPS: usize = 16;

/// The result of a DNS lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// In the resolver's order of preference.
    Found(Vec<IpAddr>),
    NoSuchHost,
    /// The resolver failed or could not be reached.
    Unavailable,
}

#[derive(Debug)]
pub(crate) struct OpenConnection<S> {
    pub(super) stream: S,
    /// The peer's address as the operating system reports it.
    pub(super) peer: SocketAddr,
}

pub(crate) trait Transport: Send + Sync {
    type Stream: AsyncRead + AsyncWrite + Send + Unpin;

    /// Look up an absolute name, given without its trailing dot.
    fn resolve(&self, name: &str) -> impl Future<Output = Lookup> + Send;

    fn connect(
        &self,
        address: AllowedAddress,
    ) -> impl Future<Output = io::Result<OpenConnection<Self::Stream>>> + Send;
}

/// The operating system's resolver and TCP.
#[derive(Clone, Debug)]
pub(crate) struct SystemTransport {
    lookups: Arc<Semaphore>,
}

impl Default for SystemTransport {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Transport for SystemTransport {
    type Stream = TcpStream;

    async fn resolve(&self, name: &str) -> Lookup {
        let Ok(permit) = Arc::clone(&self.lookups).acquire_owned().await else {
            return Lookup::Unavailable;
        };
        // The trailing dot makes the name absolute: a search list (of the machine or the cluster) could
        // turn a public name into a local one.
        let absolute = format!("{name}.");
        let (sender, receiver) = oneshot::channel();
        let lookup = move || {
            let found = look_up(&absolute);
            drop(permit);
            // The receiver is gone if the check timed out.
            let _ = sender.send(found);
        };
        // Not `spawn_blocking`: the runtime waits for its threads at exit, and a lookup may hang for
        // half a minute.
        match thread::Builder::new().name("lookup".to_owned()).spawn(lookup) {
            Ok(_) => receiver.await.unwrap_or(Lookup::Unavailable),
            Err(_) => Lookup::Unavailable,
        }
    }

    async fn connect(&self, address: AllowedAddress) -> io::Result<OpenConnection<TcpStream>> {
        connect(address.socket()).await
    }
}

async fn connect(address: SocketAddr) -> io::Result<OpenConnection<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let peer = stream.peer_addr()?;
    Ok(OpenConnection { stream, peer })
}

fn look_up(name: &str) -> Lookup {
    match (name, 0).to_socket_addrs() {
        Ok(found) => {
            let addresses = found.map(|socket| socket.ip()).collect::<Vec<_>>();
            if addresses.is_empty() { Lookup::NoSuchHost } else { Lookup::Found(addresses) }
        }
        Err(error) if is_no_such_host(&error.to_string()) => Lookup::NoSuchHost,
        Err(_) => Lookup::Unavailable,
    }
}

/// Whether the resolver reports that the name does not exist. The standard library keeps only the
/// message of the resolver's error; these are glibc's, musl's and the BSDs'.
fn is_no_such_host(message: &str) -> bool {
    const MESSAGES: [&str; 6] = [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided",
        "no address associated with name",
    ];
    MESSAGES.iter().any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_connection_reports_its_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(connect(address).await.unwrap().peer, address);
    }

    #[test]
    fn an_address_is_its_own_lookup() {
        assert_eq!(look_up("127.0.0.1"), Lookup::Found(vec!["127.0.0.1".parse().unwrap()]));
    }

    #[test]
    fn a_missing_name_is_distinguished_from_a_failing_resolver() {
        let failed = "failed to lookup address information: ";
        for (message, expected) in [
            ("Name or service not known", true),
            ("No address associated with hostname", true),
            ("Name does not resolve", true),
            ("nodename nor servname provided, or not known", true),
            ("Temporary failure in name resolution", false),
            ("Try again", false),
            ("Non-recoverable failure in name resolution", false),
            ("System error", false),
        ] {
            assert_eq!(is_no_such_host(&format!("{failed}{message}")), expected, "{message}");
        }
    }
}
