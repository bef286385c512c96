//! Looking up and dialling: what the outside world can do for a check, as a trait that tests
//! implement, and as the real thing. It decides nothing: names are looked up as they are given, and
//! what to dial is always a [`Vetted`] address.
//!
//! Invariant: no more lookups run at a time than the limit says, also where nobody waits for them
//! any more. No setting of the environment sends a connection elsewhere: there is no proxy here.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};

use super::address::Vetted;

/// Lookups that may run at a time. The system's resolver cannot be called off, so one that hangs
/// keeps its destination until it ends.
const MAX_LOOKUPS: usize = 16;

/// What asking for a name gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Its addresses, the best one first.
    Found(Vec<IpAddr>),
    /// It has none.
    NoSuchHost,
    /// Nobody could say.
    Unavailable,
}

/// An open connection, and host is at the other end of it.
#[derive(Debug)]
pub struct Dialled<S> {
    /// The connection.
    pub stream: S,
    /// The address that answered, as the system tells it.
    pub peer: SocketAddr,
}

/// The way out.
pub trait Net: Send + Sync {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin;

    /// Look up an absolute name, without a dot at its end, once.
    fn resolve(&self, name: &str) -> impl Future<Output = Lookup> + Send;

    /// Connect to this address, and to no other.
    fn connect(
        &self,
        address: Vetted,
    ) -> impl Future<Output = io::Result<Dialled<Self::Stream>>> + Send;
}

/// The real one: the system's resolver, and plain TCP.
#[derive(Clone, Debug)]
pub struct Internet {
    lookups: Arc<Semaphore>,
}

impl Default for Internet {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Net for Internet {
    type Stream = TcpStream;

    async fn resolve(&self, name: &str) -> Lookup {
        let Ok(permit) = Arc::clone(&self.lookups).acquire_owned().await else {
            return Lookup::Unavailable;
        };
        // The dot says that the name is whole: the machine's search list, and the cluster's, would
        // turn a public name into one of their own.
        let absolute = format!("{name}.");
        let (tell, told) = oneshot::channel();
        let look = move || {
            let found = look_up(&absolute);
            drop(permit);
            // Nobody waits any more when the time was up.
            let _ = tell.send(found);
        };
        // A thread of its own, not one of the runtime's: those are waited for at the end of the
        // program, and a lookup may hang for half a minute.
        match thread::Builder::new().name("lookup".to_owned()).spawn(look) {
            Ok(_) => told.await.unwrap_or(Lookup::Unavailable),
            Err(_) => Lookup::Unavailable,
        }
    }

    async fn connect(&self, address: Vetted) -> io::Result<Dialled<TcpStream>> {
        dial(address.socket()).await
    }
}

async fn dial(address: SocketAddr) -> io::Result<Dialled<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let peer = stream.peer_addr()?;
    Ok(Dialled { stream, peer })
}

fn look_up(name: &str) -> Lookup {
    match (name, 0).to_socket_addrs() {
        Ok(found) => {
            let addresses = found.map(|socket| socket.ip()).collect::<Vec<_>>();
            if addresses.is_empty() { Lookup::NoSuchHost } else { Lookup::Found(addresses) }
        }
        Err(error) if says_there_is_none(&error.to_string()) => Lookup::NoSuchHost,
        Err(_) => Lookup::Unavailable,
    }
}

/// Whether the resolver knows that there is no such name. The standard library keeps of the
/// resolver's verdict its words only; these are glibc's, musl's and the BSDs'. Any other words mean
/// that it could not tell.
fn says_there_is_none(words: &str) -> bool {
    const NONE: [&str; 6] = [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided",
        "no address associated with name",
    ];
    NONE.iter().any(|none| words.contains(none))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_connection_tells_who_is_at_the_other_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(dial(address).await.unwrap().peer, address);
    }

    #[test]
    fn an_address_is_its_own_lookup() {
        assert_eq!(look_up("127.0.0.1"), Lookup::Found(vec!["127.0.0.1".parse().unwrap()]));
    }

    #[test]
    fn no_such_name_and_no_such_resolver_are_told_apart() {
        let failed = "failed to lookup address information: ";
        for (words, none) in [
            ("Name or service not known", true),
            ("No address associated with hostname", true),
            ("Name does not resolve", true),
            ("nodename nor servname provided, or not known", true),
            ("Temporary failure in name resolution", false),
            ("Try again", false),
            ("Non-recoverable failure in name resolution", false),
            ("System error", false),
        ] {
            assert_eq!(says_there_is_none(&format!("{failed}{words}")), none, "{words}");
        }
    }
}
