//! Answers plain GET requests before hyper takes the connection, which saves most of what a redirect
//! costs. At the first request that is not plain, or that the service does not answer here, the
//! connection is handed to hyper for good.
//!
//! Invariant: a request answered here is parsed as hyper parses it, by the same parser behind the same
//! framing, and answered with the same bytes.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::Stopwatch;
use kurz_core::host_name::plain_host;

use super::socket::Socket;

/// Size of the read buffer. A head that does not fit is not plain.
const ROOM: usize = 4096;
/// Bytes of answers that are collected before they are sent.
const MOST: usize = 64 * 1024;
/// Most header fields of a plain request.
const FIELDS: usize = 32;

/// A service that can answer some requests without hyper.
pub trait FastPath {
    /// Append the answer to a plain request to `out`, or leave everything as it is and return
    /// [`FastReply::Unknown`].
    fn try_answer(&self, plain: &PlainHead<'_>, out: &mut Vec<u8>) -> FastReply {
        let _ = (plain, out);
        FastReply::Unknown
    }
}

/// The service's reply to a plain request.
pub enum FastReply {
    /// The answer is in `out`.
    Done,
    /// The answer is the output of this future.
    Later(LaterReply),
    /// The request must go through hyper.
    Unknown,
}

type LaterReply = Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;

/// The head of an HTTP/1.1 GET without a body, on a connection that is kept alive.
#[derive(Debug)]
pub struct PlainHead<'a> {
    /// The host in lower case, without a port.
    pub host: &'a str,
    pub path: &'a str,
    /// The first `Sec-Purpose`.
    pub purpose: Option<&'a [u8]>,
    /// The first `User-Agent`.
    pub agent: Option<&'a [u8]>,
    pub arrival: Stopwatch,
    pub fields: &'a [httparse::Header<'a>],
}

impl PlainHead<'_> {
    /// The fields as hyper would pass them on; `None` where hyper would refuse them.
    pub fn headers(&self) -> Option<HeaderMap> {
        let mut headers = HeaderMap::with_capacity(self.fields.len());
        for field in self.fields {
            let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
            headers.append(name, HeaderValue::from_bytes(field.value).ok()?);
        }
        Some(headers)
    }
}

type Space<'a> = [MaybeUninit<httparse::Header<'a>>; FIELDS];

/// Parse the head at the start of `bytes`, with its length; `None` unless it is complete and plain.
fn read<'a>(
    bytes: &'a [u8],
    space: &'a mut Space<'a>,
    arrival: Stopwatch,
) -> Option<(PlainHead<'a>, usize)> {
    let mut head = httparse::Request::new(&mut []);
    let read = head.parse_with_uninit_headers(bytes, space).ok()?;
    let httparse::Status::Complete(length) = read else { return None };
    if head.method != Some("GET") || head.version != Some(1) {
        return None;
    }
    let fields: &[httparse::Header<'_>] = head.headers;
    let (mut host, mut purpose, mut agent) = (None, None, None);
    for field in fields {
        let value = field.value;
        // Compare lengths first: most fields are none of these.
        match field.name.len() {
            4 if is(field, "host") => {
                let named = plain_host(std::str::from_utf8(value).ok()?)?;
                if host.replace(named).is_some() {
                    return None;
                }
            }
            10 if is(field, "user-agent") => agent = agent.or(Some(value)),
            11 if is(field, "sec-purpose") => purpose = purpose.or(Some(value)),
            10 if is(field, "connection") && !value.eq_ignore_ascii_case(b"keep-alive") => {
                return None;
            }
            6 if is(field, "expect") => return None,
            7 if is(field, "upgrade") => return None,
            14 if is(field, "content-length") => return None,
            17 if is(field, "transfer-encoding") => return None,
            _ => {}
        }
    }
    let (host, path) = (host?, head.path?);
    Some((PlainHead { host, path, purpose, agent, arrival, fields }, length))
}

fn is(field: &httparse::Header<'_>, name: &str) -> bool {
    field.name.eq_ignore_ascii_case(name)
}

/// A connection that has carried only plain requests so far.
pub(super) struct Opening<'a, T, S> {
    socket: &'a mut Socket<T>,
    service: &'a S,
    /// Answers, and how many bytes of them have been sent.
    out: Vec<u8>,
    sent: usize,
    /// A pending answer, sent after those in `out`.
    later: Option<LaterReply>,
    /// The connection goes to hyper once `out` is sent.
    over: bool,
}

impl<'a, T, S> Opening<'a, T, S>
where
    T: AsyncRead + AsyncWrite + Unpin,
    S: FastPath,
{
    pub(super) fn new(socket: &'a mut Socket<T>, service: &'a S) -> Self {
        Self { socket, service, out: Vec::new(), sent: 0, later: None, over: false }
    }

    /// Answer requests as they arrive. Ready when hyper is to take over: all answers are sent, and
    /// unanswered bytes were given back to the socket. With `last`, as soon as all answers are sent.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, last: bool) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_send(cx))?;
            if let Some(later) = &mut self.later {
                self.out = ready!(later.as_mut().poll(cx));
                self.later = None;
                continue;
            }
            if self.over || last {
                return Poll::Ready(Ok(()));
            }
            let mut space = [const { MaybeUninit::uninit() }; ROOM];
            let mut buf = ReadBuf::uninit(&mut space);
            ready!(Pin::new(&mut *self.socket).poll_read(cx, &mut buf))?;
            // hyper reads the end of the stream again.
            self.over = buf.filled().is_empty();
            let left = self.answer(buf.filled());
            self.socket.give_back(left);
        }
    }

    /// Answer each complete head in `bytes`; returns the rest.
    fn answer<'b>(&mut self, mut bytes: &'b [u8]) -> &'b [u8] {
        let arrival = Stopwatch::start();
        while !bytes.is_empty() && self.later.is_none() && self.out.len() < MOST {
            let mut space = [const { MaybeUninit::uninit() }; FIELDS];
            let Some((plain, length)) = read(bytes, &mut space, arrival) else {
                self.over = true;
                break;
            };
            match self.service.try_answer(&plain, &mut self.out) {
                FastReply::Done => {}
                FastReply::Later(later) => self.later = Some(later),
                FastReply::Unknown => {
                    self.over = true;
                    break;
                }
            }
            bytes = bytes.get(length..).unwrap_or_default();
        }
        bytes
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.out.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while let Some(rest) = self.out.get(self.sent..).filter(|rest| !rest.is_empty()) {
            let sent = ready!(Pin::new(&mut *self.socket).poll_write(cx, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        ready!(Pin::new(&mut *self.socket).poll_flush(cx))?;
        self.out.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

/// A plain tower service has no fast path.
impl<S> FastPath for hyper_util::service::TowerToHyperService<S> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(head: &str) -> Option<(String, usize)> {
        let mut space = [const { MaybeUninit::uninit() }; FIELDS];
        let (plain, length) = read(head.as_bytes(), &mut space, Stopwatch::start())?;
        let PlainHead { host, path, purpose, agent, .. } = plain;
        let [purpose, agent] =
            [purpose, agent].map(|value| String::from_utf8_lossy(value.unwrap_or(b"-")));
        let headers = plain.headers().unwrap().len();
        Some((format!("{host} {path} {agent} {purpose} {headers}"), length))
    }

    #[test]
    fn of_a_plain_head_that_is_kept_which_a_redirect_looks_at() {
        let head = "GET /abc HTTP/1.1\r\nHost: kurz.example:80\r\nuser-AGENT:  me \r\n\
                    Sec-Purpose: prefetch\r\nAccept: */*\r\nAccept-Language: de\r\n\
                    Connection: Keep-Alive\r\nUser-Agent: you\r\nX: y\r\n\r\n";
        let read = plain(&format!("{head}GET /next"));
        assert_eq!(read, Some(("kurz.example /abc me prefetch 8".to_owned(), head.len())));
        let bare = "GET /abc HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(plain(bare), Some(("a /abc - - 1".to_owned(), bare.len())));
    }

    #[test]
    fn whatever_else_a_head_may_say_is_for_hyper() {
        let with = |fields: &str| format!("GET /abc HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        assert!(plain(&with("")).is_some());
        for fields in [
            "Host: a\r\n",
            "host: b\r\n",
            "Connection: close\r\n",
            "Connection: keep-alive, upgrade\r\n",
            "connection: upgrade\r\nupgrade: h2c\r\n",
            "UPGRADE: websocket\r\n",
            "Content-Length: 0\r\n",
            "content-length: 5\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Expect: 100-continue\r\n",
            "bad name: x\r\n",
            "nul: \0\r\n",
            " folded: x\r\n",
        ] {
            assert!(plain(&with(fields)).is_none(), "{fields}");
        }
        assert!(plain(&with(&"X: y\r\n".repeat(FIELDS))).is_none(), "many fields");
        for head in [
            "",
            "GET /abc HTTP/1.1\r\nHost: a\r\n",
            "GET /abc HTTP/1.1\r\n\r\n",
            "GET /abc HTTP/1.1\r\nHost:\r\n\r\n",
            "GET /abc HTTP/1.1\r\nHost: A\r\n\r\n",
            "GET /abc HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET /abc HTTP/1.0\r\nHost: a\r\n\r\n",
            "HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\n",
            "get /abc HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /abc HTTP/1.1\r\nHost: a\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ] {
            assert!(plain(head).is_none(), "{head}");
        }
    }
}
