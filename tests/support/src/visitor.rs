//! Visitors on connections that they keep, each following a link as fast as it is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// What became of requests, by status; 0 is one without an answer.
#[derive(Clone, Debug, Default)]
pub struct Answers(pub Vec<u16>);

impl Answers {
    pub fn count(&self, status: u16) -> u64 {
        u64::try_from(self.0.iter().filter(|one| **one == status).count()).unwrap()
    }
}

/// `connections` spread over `addresses` follow `path` `requests` times in all.
pub async fn follow(
    addresses: &[String],
    path: &str,
    connections: usize,
    requests: u64,
) -> Answers {
    let left = Arc::new(AtomicUsize::new(usize::try_from(requests).unwrap()));
    let visitors = (0..connections).map(|number| {
        let (left, address) = (Arc::clone(&left), addresses[number % addresses.len()].clone());
        async move {
            let mut statuses = Vec::new();
            let mut visitor = Visitor::new(&address);
            let one = |left: usize| left.checked_sub(1);
            while left.fetch_update(Ordering::AcqRel, Ordering::Acquire, one).is_ok() {
                statuses.push(visitor.get(path).await.unwrap_or(0));
            }
            statuses
        }
    });
    Answers(join_all(visitors).await.into_iter().flatten().collect())
}

/// A connection that is opened when it is needed, and again when it was closed.
pub struct Visitor {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Visitor {
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None }
    }

    /// Go elsewhere from now on.
    pub fn go_to(&mut self, address: &str) {
        if self.address != address {
            *self = Self::new(address);
        }
    }

    /// The status of a GET; an error when there is no answer.
    pub async fn get(&mut self, path: &str) -> std::io::Result<u16> {
        let answer = self.exchange(path).await;
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    async fn exchange(&mut self, path: &str) -> std::io::Result<u16> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().expect("it was just made");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).await?;
        let (mut status, mut length, mut closes) = (0, 0, false);
        let mut line = String::new();
        loop {
            line.clear();
            if stream.read_line(&mut line).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_end().to_ascii_lowercase();
            if status == 0 {
                status = text.get(9..12).and_then(|code| code.parse().ok()).unwrap_or(1);
            } else if let Some(value) = text.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if text == "connection: close" {
                closes = true;
            } else if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        if closes {
            self.stream = None;
        }
        Ok(status)
    }
}
