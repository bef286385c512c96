//! A network in memory: what a name resolves to, which server responds at an address, and a record of
//! every lookup, connection and request.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::sleep;

use crate::egress::address::AllowedAddress;
use crate::egress::check::{Checker, Health};
use crate::egress::transport::{Lookup, OpenConnection, Transport};

pub(super) const PUBLIC: &str = "93.184.215.14";
pub(super) const OTHER: &str = "2606:4700:4700::1111";

pub(super) const FOREVER: Duration = Duration::from_hours(1);

type Server = Arc<dyn Fn(Arc<FakeNetwork>, DuplexStream) -> BoxFuture<'static, ()> + Send + Sync>;

pub(super) enum Answer {
    /// One list per lookup; the last one repeats.
    Addresses(Vec<Vec<IpAddr>>),
    Alias(String),
    Down,
    Hangs,
}

/// The result of connecting to an address without a server.
#[derive(Clone, Copy)]
pub(super) enum Line {
    Fails(io::ErrorKind),
    Hangs,
}

#[derive(Default)]
pub(super) struct FakeNetwork {
    pub(super) names: HashMap<String, Answer>,
    pub(super) servers: HashMap<IpAddr, Server>,
    pub(super) lines: HashMap<IpAddr, Line>,
    /// The peer that connections report, if not the address that was connected to.
    pub(super) peer: Option<SocketAddr>,
    pub(super) lookups: Mutex<Vec<String>>,
    pub(super) connections: Mutex<Vec<SocketAddr>>,
    pub(super) requests: Mutex<Vec<String>>,
}

pub(super) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

impl FakeNetwork {
    /// A network in which `text` is the response of [`PUBLIC`] to every request, byte for byte.
    pub(super) fn saying(text: &str) -> Self {
        let text = text.to_owned();
        Self::answering(move |_| text.clone())
    }

    /// A network whose host at [`PUBLIC`], which has every `*.example`, answers requests by `answer`.
    pub(super) fn answering(
        answer: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::serving(move |network, mut stream| {
            let answer = answer.clone();
            Box::pin(async move {
                let request = network.receive(&mut stream).await;
                let _ = stream.write_all(answer(&request).as_bytes()).await;
            })
        })
    }

    /// A network with `server` at [`PUBLIC`].
    pub(super) fn serving(
        server: impl Fn(Arc<FakeNetwork>, DuplexStream) -> BoxFuture<'static, ()>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let mut network = Self::default();
        network.servers.insert(ip(PUBLIC), Arc::new(server));
        network
    }

    pub(super) fn name(mut self, name: &str, answer: Answer) -> Self {
        self.names.insert(name.to_owned(), answer);
        self
    }

    pub(super) fn line(mut self, address: &str, line: Line) -> Self {
        self.lines.insert(ip(address), line);
        self
    }

    /// Read the head of a request, and record it.
    pub(super) async fn receive(&self, stream: &mut (impl AsyncReadExt + Unpin + Send)) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        self.requests.lock().unwrap().push(head.clone());
        head
    }

    pub(super) fn checker(self: &Arc<Self>) -> Checker<Arc<Self>> {
        Checker::new(Arc::clone(self), NonZeroUsize::new(4).unwrap())
    }

    pub(super) async fn check(self, url: &str) -> (Health, Arc<Self>) {
        let network = Arc::new(self);
        (network.checker().check(url).await, network)
    }

    pub(super) fn connected(&self) -> Vec<String> {
        self.connections.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    /// The requests, as `HEAD a.example /`.
    pub(super) fn requested(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|request| summary(request)).collect()
    }

    fn look_up(&self, name: &str) -> Option<Lookup> {
        let nth = self.lookups.lock().unwrap().iter().filter(|asked| *asked == name).count();
        match self.names.get(name) {
            Some(Answer::Addresses(lists)) => {
                let list = lists.get(nth.saturating_sub(1)).or(lists.last()).unwrap();
                Some(Lookup::Found(list.clone()))
            }
            Some(Answer::Alias(other)) => {
                self.lookups.lock().unwrap().push(other.clone());
                self.look_up(other)
            }
            Some(Answer::Down) => Some(Lookup::Unavailable),
            Some(Answer::Hangs) => None,
            None if name.ends_with(".example") => Some(Lookup::Found(vec![ip(PUBLIC)])),
            None => Some(Lookup::NoSuchHost),
        }
    }
}

/// Method, host and path of a request.
pub(super) fn summary(request: &str) -> String {
    let mut words = request.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    format!("{method} {host} {path}")
}

pub(super) fn moved(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

pub(super) const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

impl Transport for Arc<FakeNetwork> {
    type Stream = DuplexStream;

    async fn resolve(&self, name: &str) -> Lookup {
        self.lookups.lock().unwrap().push(name.to_owned());
        match self.look_up(name) {
            Some(lookup) => lookup,
            None => std::future::pending().await,
        }
    }

    async fn connect(&self, address: AllowedAddress) -> io::Result<OpenConnection<DuplexStream>> {
        let socket = address.socket();
        self.connections.lock().unwrap().push(socket);
        if let Some(server) = self.servers.get(&socket.ip()) {
            let (ours, theirs) = duplex(4096);
            let serving = server(Self::clone(self), theirs);
            #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
            tokio::spawn(serving);
            return Ok(OpenConnection { stream: ours, peer: self.peer.unwrap_or(socket) });
        }
        match self.lines.get(&socket.ip()) {
            Some(Line::Fails(kind)) => Err((*kind).into()),
            Some(Line::Hangs) => {
                sleep(FOREVER).await;
                Err(io::ErrorKind::TimedOut.into())
            }
            None => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }
}
