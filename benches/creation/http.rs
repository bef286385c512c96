//! A client with little CPU time, since it shares the machine with the server it measures: requests are
//! prepared bytes, and of a response it reads the status and the length.

use std::net::SocketAddr;

use kurz::app::LinkRequest;
use kurz_core::link::Strategy;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::input::WORKSPACE;

/// A request for a link, as it goes over the wire.
pub(crate) fn create(link: &LinkRequest) -> Vec<u8> {
    let body = json!({
        "original_url": link.original_url,
        "custom_code": link.custom_code,
        "strategy": link.strategy.map(Strategy::as_str),
    })
    .to_string();
    format!(
        "POST /api/v1/workspaces/{WORKSPACE}/links HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A connection that is kept alive.
pub(crate) struct Client {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("kurz listens");
        stream.set_nodelay(true).expect("the socket is open");
        Self { stream, answer: Vec::with_capacity(4096) }
    }

    /// Send a request and wait for the whole answer, which must be `201 Created`.
    pub(crate) async fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).await.expect("kurz keeps the connection open");
        self.answer.clear();
        while !self.is_whole() {
            let read = self.stream.read_buf(&mut self.answer).await.expect("kurz answers");
            assert!(read > 0, "kurz closed the connection");
        }
        let text = String::from_utf8_lossy(&self.answer);
        assert!(text.starts_with("HTTP/1.1 201 "), "{text}");
    }

    fn is_whole(&self) -> bool {
        let Some(end) = self.answer.windows(4).position(|four| four == b"\r\n\r\n") else {
            return false;
        };
        let head = self.answer.get(..end).unwrap_or_default();
        let head = str::from_utf8(head).expect("a head is ASCII");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|text| text.parse().ok()).expect("its length is told");
        self.answer.len() >= end + 4 + length
    }
}
