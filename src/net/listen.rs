//! Binds one address with one listener per worker.
//!
//! Invariant: the start fails if another process has the address, although the workers share it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::time::Duration;

use rustls::ServerConfig;
use socket2::{Domain, Protocol, Socket, Type};

use super::tls_reload::TlsReloader;
use crate::client_address::TrustedProxies;

const BACKLOG: i32 = 4096;

/// How long the kernel keeps a connection whose peer acknowledges nothing. `timeouts` cannot see an
/// answer that is in the kernel's buffer.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Why an address cannot be listened on. The text names the address and the setting it came from.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address} ({setting}): {}", advice(.source))]
pub struct ListenError {
    address: SocketAddr,
    setting: &'static str,
    source: io::Error,
}

fn advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "address already in use; stop the other program or choose another port".to_owned()
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address; choose one of its own, or 0.0.0.0 for all".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied; ports below 1024 need CAP_NET_BIND_SERVICE, or choose another port"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// The listeners of one address, one for each worker.
#[derive(Debug)]
pub struct Listeners {
    pub(super) address: SocketAddr,
    pub(super) sockets: Vec<TcpListener>,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) proxies: Arc<TrustedProxies>,
}

impl Listeners {
    /// Listen on `address` for `workers` workers. Port 0 takes a free one. `setting` is what the
    /// operator wrote the address in, and goes into the error.
    pub fn bind(
        address: SocketAddr,
        workers: NonZeroUsize,
        setting: &'static str,
    ) -> Result<Self, ListenError> {
        bind_all(address, workers).map_err(|source| ListenError { address, setting, source })
    }

    /// The same with TLS, where there is a certificate.
    #[must_use]
    pub fn speaking(self, tls: Option<&TlsReloader>) -> Self {
        Self { tls: tls.map(TlsReloader::config), ..self }
    }

    /// The same behind proxies, whose connections carry many clients and are not limited per address.
    #[must_use]
    pub fn behind(self, proxies: Arc<TrustedProxies>) -> Self {
        Self { proxies, ..self }
    }

    /// The address, with the port that was taken where port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn bind_all(address: SocketAddr, workers: NonZeroUsize) -> io::Result<Listeners> {
    // SO_REUSEPORT alone would let a second kurz share the port silently. So the first listener binds
    // without it, which fails if anybody listens, and sets it only after that: at no moment can two
    // programs both succeed.
    let first = open(address)?;
    first.bind(&address.into())?;
    first.listen(BACKLOG)?;
    first.set_reuse_port(true)?;
    let first = TcpListener::from(first);
    let address = first.local_addr()?;

    let mut sockets = vec![first];
    for _ in 1..workers.get() {
        let socket = open(address)?;
        socket.set_reuse_port(true)?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        sockets.push(socket.into());
    }
    Ok(Listeners { address, sockets, tls: None, proxies: Arc::default() })
}

/// A socket with the options that accepted connections inherit, so that accepting one costs no call
/// to set them.
fn open(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of the last run in TIME_WAIT must not keep the next one from starting.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_tcp_nodelay(true)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::TcpStream;

    const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("2 is not 0");

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn a_second_program_on_the_same_port_is_told_what_to_do() {
        let first = Listeners::bind(loopback(), TWO, "KURZ_LISTEN").unwrap();
        let address = first.address();
        let error = Listeners::bind(address, TWO, "KURZ_LISTEN").unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot listen on {address} (KURZ_LISTEN): address already in use; \
                 stop the other program or choose another port"
            )
        );
        drop(first);
        Listeners::bind(address, TWO, "KURZ_LISTEN").unwrap();
    }

    #[test]
    fn an_address_of_another_machine_is_refused_with_advice() {
        let elsewhere = SocketAddr::from(([192, 0, 2, 1], 8080));
        let error = Listeners::bind(elsewhere, TWO, "KURZ_LISTEN").unwrap_err().to_string();
        assert!(
            error.contains("192.0.2.1:8080 (KURZ_LISTEN): this machine has no such"),
            "{error}"
        );
    }

    #[test]
    fn every_listener_of_an_address_gets_connections_with_the_options_of_the_listener() {
        let listeners = Listeners::bind(loopback(), TWO, "KURZ_LISTEN").unwrap();
        let mut clients = Vec::new();
        let mut served = HashSet::new();
        // The kernel picks a listener by a hash of the ports: 64 connections on one side only would
        // happen once in 2^63 runs.
        for _ in 0..64 {
            clients.push(TcpStream::connect(listeners.address()).unwrap());
        }
        for (at, socket) in listeners.sockets.iter().enumerate() {
            while let Ok((accepted, _)) = socket.accept() {
                assert!(accepted.nodelay().unwrap());
                #[cfg(target_os = "linux")]
                assert_eq!(
                    socket2::SockRef::from(&accepted).tcp_user_timeout().unwrap(),
                    Some(UNACKNOWLEDGED)
                );
                served.insert(at);
            }
        }
        assert_eq!(served.len(), 2);
    }
}
