//! A TCP proxy between kurz and PostgreSQL or Redis that can be slow, silent or cut.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// How the network behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Good,
    /// Everything takes so much longer, each way.
    Slow(Duration),
    /// Nothing comes through, and nobody is told.
    Silent,
    /// Every connection is reset, and so is each new one.
    Cut,
}

/// An address to connect to instead of the server itself.
pub struct Proxy {
    address: SocketAddr,
    condition: watch::Sender<Condition>,
    listening: JoinHandle<()>,
}

impl Proxy {
    /// In front of `server`, `host:port`.
    pub async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (condition, seen) = watch::channel(Condition::Good);
        let listening = Handle::current().spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                Handle::current().spawn(carry(client, server.clone(), seen.clone()));
            }
        });
        Self { address, condition, listening }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn set(&self, condition: Condition) {
        self.condition.send_replace(condition);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn carry(client: TcpStream, server: String, condition: watch::Receiver<Condition>) {
    // Closed with a reset, not with a farewell.
    let _ = client.set_zero_linger();
    if *condition.borrow() == Condition::Cut {
        return;
    }
    let Ok(upstream) = TcpStream::connect(server).await else { return };
    let _ = upstream.set_zero_linger();
    let _ = (client.set_nodelay(true), upstream.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), upstream.into_split());
    let mut cut = condition.clone();
    tokio::select! {
        () = pass(from_client, to_server, condition.clone()) => {}
        () = pass(from_server, to_client, condition) => {}
        _ = cut.wait_for(|condition| *condition == Condition::Cut) => {}
    }
}

/// One way of a connection, until it ends.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut condition: watch::Receiver<Condition>,
) {
    let mut space = vec![0; 64 * 1024];
    while let Ok(read) = from.read(&mut space).await {
        if read == 0 {
            break;
        }
        let now = *condition.borrow();
        match now {
            Condition::Slow(by) => sleep(by).await,
            Condition::Silent => {
                if condition.wait_for(|condition| *condition != Condition::Silent).await.is_err() {
                    break;
                }
            }
            Condition::Good | Condition::Cut => {}
        }
        if to.write_all(&space[..read]).await.is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use kurz::clock::Stopwatch;
    use tokio::time::timeout;

    use super::*;

    /// Says everything back.
    async fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        Handle::current().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                Handle::current().spawn(async move {
                    let (mut from, mut to) = stream.into_split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        address
    }

    async fn say(stream: &mut TcpStream) -> std::io::Result<()> {
        stream.write_all(b"hello").await?;
        let mut back = [0; 5];
        stream.read_exact(&mut back).await.map(|_| ())
    }

    #[tokio::test]
    async fn a_wire_is_good_slow_silent_and_cut() {
        let proxy = Proxy::start(echo().await).await;
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        say(&mut stream).await.unwrap();
        proxy.set(Condition::Slow(Duration::from_millis(50)));
        let watch = Stopwatch::start();
        say(&mut stream).await.unwrap();
        assert!(watch.elapsed() >= Duration::from_millis(100), "each way");
        proxy.set(Condition::Silent);
        assert!(timeout(Duration::from_millis(100), say(&mut stream)).await.is_err());
        proxy.set(Condition::Good);
        let mut late = [0; 5];
        stream.read_exact(&mut late).await.unwrap();
        proxy.set(Condition::Cut);
        assert!(say(&mut stream).await.is_err());
        let mut other = TcpStream::connect(proxy.address).await.unwrap();
        assert!(say(&mut other).await.is_err());
        proxy.set(Condition::Good);
        let mut other = TcpStream::connect(proxy.address).await.unwrap();
        say(&mut other).await.unwrap();
    }
}
