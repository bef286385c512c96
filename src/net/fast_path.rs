//! Answers plain GET requests without hyper, which saves most of what a redirect costs. A request that
//! is not plain, or that the service does not answer here, is left to hyper; the requests after it are
//! answered here again.
//!
//! Invariant: a request answered here is parsed as hyper parses it, by the same parser under the same
//! rules of framing, and answered with the same bytes.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::Stopwatch;
use kurz_core::host_name::plain_host;

use super::http1_framing::lines_end_with_crlf;
use super::plain_port;
use super::socket::Socket;

/// Size of the read buffer. A head that does not fit is not plain.
pub(super) const ROOM: usize = 4096;
/// Bytes of answers that are collected before they are sent.
const MOST: usize = 64 * 1024;
/// Most header fields of a plain request.
const FIELDS: usize = 32;
/// Room for a usual answer, so that writing one does not enlarge the buffer step by step.
const ANSWER_BYTES: usize = 256;
/// What an HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

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

/// The head of an HTTP/1.1 GET without a body.
#[derive(Debug)]
pub struct PlainHead<'a> {
    /// The host in lower case, without a port.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    pub path: &'a str,
    pub query: Option<&'a str>,
    /// The client asks to close the connection after the answer, which must say so.
    pub close: bool,
    /// The first `Sec-Purpose`.
    pub purpose: Option<&'a [u8]>,
    /// The first `User-Agent`.
    pub agent: Option<&'a [u8]>,
    /// The first `Referer`.
    pub referer: Option<&'a [u8]>,
    /// The first `Accept-Language`.
    pub languages: Option<&'a [u8]>,
    /// Whether a `Sec-GPC` is 1.
    pub gpc: bool,
    /// Whether a `DNT` is 1.
    pub dnt: bool,
    pub arrival: Stopwatch,
    pub fields: &'a [httparse::Header<'a>],
}

impl<'a> PlainHead<'a> {
    /// The values of all fields `name`, the last one first.
    pub fn values_of(&self, name: &str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        self.fields.iter().rev().filter(move |field| is(field, name)).map(|field| field.value)
    }

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

/// Use the plain head that `bytes` begin with; `None` if they do not.
#[cfg(test)]
pub(crate) fn with_plain_head<T>(
    bytes: &[u8],
    use_it: impl FnOnce(&PlainHead<'_>) -> T,
) -> Option<T> {
    let mut space = [const { MaybeUninit::uninit() }; FIELDS];
    read(bytes, &mut space, Stopwatch::start()).map(|(plain, _)| use_it(&plain))
}

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
    if !lines_end_with_crlf(bytes.get(..length)?) {
        return None;
    }
    let fields: &[httparse::Header<'_>] = head.headers;
    let (mut host, mut purpose, mut agent, mut close) = (None, None, None, false);
    let (mut referer, mut languages, mut gpc, mut dnt) = (None, None, false, false);
    for field in fields {
        let value = field.value;
        // Compare lengths first: most fields are none of these.
        match field.name.len() {
            4 if is(field, "Host") => {
                let named = plain_host(value)?;
                if host.replace(named).is_some() {
                    return None;
                }
            }
            10 if is(field, "User-Agent") => agent = agent.or(Some(value)),
            11 if is(field, "Sec-Purpose") => purpose = purpose.or(Some(value)),
            10 if is(field, "Connection") => {
                if value.eq_ignore_ascii_case(b"close") {
                    close = true;
                } else if !value.eq_ignore_ascii_case(b"keep-alive") {
                    return None;
                }
            }
            7 if is(field, "Referer") => referer = referer.or(Some(value)),
            15 if is(field, "Accept-Language") => languages = languages.or(Some(value)),
            7 if is(field, "Sec-GPC") => gpc |= value == b"1",
            3 if is(field, "DNT") => dnt |= value == b"1",
            6 if is(field, "Expect") => return None,
            7 if is(field, "Upgrade") => return None,
            14 if is(field, "Content-Length") => return None,
            17 if is(field, "Transfer-Encoding") => return None,
            _ => {}
        }
    }
    let (host, target) = (host?, head.path?);
    let (path, query) = split_target(target)?;
    let plain = PlainHead {
        host,
        target,
        path,
        query,
        close,
        purpose,
        agent,
        referer,
        languages,
        gpc,
        dnt,
        arrival,
        fields,
    };
    Some((plain, length))
}

/// The path of a target and its query; `None` where hyper might refuse the query.
fn split_target(target: &str) -> Option<(&str, Option<&str>)> {
    // Byte by byte: short addresses are short, and a search for a character is made for long texts.
    let mark = target.bytes().position(|byte| byte == b'?');
    let Some((path, rest)) = mark.and_then(|mark| target.split_at_checked(mark)) else {
        return Some((target, None));
    };
    let query = rest.get(1..).unwrap_or_default();
    let is_plain = |byte: u8| matches!(byte, b'!' | b'$'..=b';' | b'=' | b'?'..=b'~');
    query.bytes().all(is_plain).then_some((path, Some(query)))
}

/// Whether it is the field `name`. Nearly all clients spell names as given here, so that is compared first:
/// a few words instead of a loop over letters.
#[inline]
fn is(field: &httparse::Header<'_>, name: &str) -> bool {
    field.name == name || field.name.eq_ignore_ascii_case(name)
}

/// Who reads on after the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextReader {
    /// hyper, for one request of HTTP/1.
    Http1,
    /// hyper, for the rest of the connection: its beginning may be that of HTTP/2.
    Http2,
    /// The connection ends.
    Nobody,
}

/// The fast path of one connection.
pub(super) struct FastReader {
    /// Nothing was read yet.
    is_new: bool,
    /// Whether the bytes come out of TLS.
    has_tls: bool,
    /// Answers, and how many bytes of them have been sent.
    pub(super) out: Vec<u8>,
    pub(super) sent: usize,
    /// A pending answer, sent after those in `out`.
    pub(super) later: Option<LaterReply>,
    /// Who reads on once `out` is sent.
    pub(super) next: Option<NextReader>,
}

impl FastReader {
    pub(super) fn new(has_tls: bool) -> Self {
        Self { is_new: true, has_tls, out: Vec::new(), sent: 0, later: None, next: None }
    }

    /// Answer requests as they arrive. Ready when somebody else is to read on: all answers are sent, and
    /// unanswered bytes were given back to the socket. With `last`, as soon as all answers are sent.
    pub(super) fn poll<T, S>(
        &mut self,
        cx: &mut Context<'_>,
        socket: &mut Socket<T>,
        service: &S,
        last: bool,
    ) -> Poll<io::Result<NextReader>>
    where
        T: AsyncRead + AsyncWrite + Unpin,
        S: FastPath,
    {
        loop {
            ready!(self.poll_send(cx, socket))?;
            if let Some(later) = &mut self.later {
                self.out = ready!(later.as_mut().poll(cx));
                self.later = None;
                socket.state().end_request();
                continue;
            }
            if let Some(next) = self.next.take() {
                return Poll::Ready(Ok(next));
            }
            if last {
                return Poll::Ready(Ok(NextReader::Http1));
            }
            let mut space = [const { MaybeUninit::uninit() }; ROOM];
            let mut buf = ReadBuf::uninit(&mut space);
            ready!(socket.poll_lend(cx, &mut buf))?;
            let bytes = buf.filled();
            if bytes.is_empty() {
                self.next = Some(NextReader::Nobody);
            }
            let left = if self.is_new && self.begins_otherwise(bytes) {
                bytes
            } else {
                self.answer(bytes, service)
            };
            socket.give_back(left);
            if self.later.is_some() {
                socket.state().begin_request();
            }
        }
    }

    pub(super) fn has_tls(&self) -> bool {
        self.has_tls
    }

    /// Whether nothing waits to be answered or sent.
    pub(super) fn is_idle(&self) -> bool {
        self.out.is_empty() && self.later.is_none() && self.next.is_none()
    }

    /// Whether the connection's first bytes are not those of HTTP/1.
    #[cold]
    pub(super) fn begins_otherwise(&mut self, bytes: &[u8]) -> bool {
        self.is_new = false;
        let common = bytes.len().min(PREFACE.len());
        if common > 0 && bytes.get(..common) == PREFACE.get(..common) {
            self.next = Some(NextReader::Http2);
        } else if !self.has_tls && plain_port::is_tls(bytes) {
            plain_port::refuse(&mut self.out);
            self.next = Some(NextReader::Nobody);
        }
        self.next.is_some()
    }

    /// Answer each complete head in `bytes`; returns the rest.
    pub(super) fn answer<'b, S: FastPath>(&mut self, mut bytes: &'b [u8], service: &S) -> &'b [u8] {
        let arrival = Stopwatch::start();
        self.out.reserve(ANSWER_BYTES);
        while !bytes.is_empty()
            && self.later.is_none()
            && self.next.is_none()
            && self.out.len() < MOST
        {
            let mut space = [const { MaybeUninit::uninit() }; FIELDS];
            let Some((plain, length)) = read(bytes, &mut space, arrival) else {
                self.next = Some(NextReader::Http1);
                break;
            };
            match service.try_answer(&plain, &mut self.out) {
                FastReply::Done => {}
                FastReply::Later(later) => self.later = Some(later),
                FastReply::Unknown => {
                    self.next = Some(NextReader::Http1);
                    break;
                }
            }
            if plain.close {
                self.next = Some(NextReader::Nobody);
            }
            bytes = bytes.get(length..).unwrap_or_default();
        }
        bytes
    }

    fn poll_send<T: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        socket: &mut Socket<T>,
    ) -> Poll<io::Result<()>> {
        if self.out.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while let Some(rest) = self.out.get(self.sent..).filter(|rest| !rest.is_empty()) {
            let sent = ready!(Pin::new(&mut *socket).poll_write(cx, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        ready!(Pin::new(&mut *socket).poll_flush(cx))?;
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
        let PlainHead { host, path, purpose, agent, close, .. } = plain;
        let [purpose, agent] =
            [purpose, agent].map(|value| String::from_utf8_lossy(value.unwrap_or(b"-")));
        let headers = plain.headers().unwrap().len();
        let close = if close { " close" } else { "" };
        Some((format!("{host} {path} {agent} {purpose} {headers}{close}"), length))
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
    fn of_repeated_fields_the_first_counts_and_any_wish_for_privacy() {
        let head = "GET /abc?a=b HTTP/1.1\r\nHost: a\r\nREFERER: https://one.example/\r\n\
                    Referer: https://two.example/\r\nAccept-Language: de\r\n\
                    accept-language: en\r\nSec-GPC: 0\r\nsec-gpc: 1\r\nDNT: 10\r\n\
                    X-Forwarded-For: 192.0.2.1\r\nx-forwarded-for: 192.0.2.2\r\n\r\n";
        let found = with_plain_head(head.as_bytes(), |plain| {
            assert_eq!(plain.query, Some("a=b"));
            assert_eq!(plain.referer, Some(&b"https://one.example/"[..]));
            assert_eq!(plain.languages, Some(&b"de"[..]));
            assert!(plain.gpc && !plain.dnt);
            let forwarded: Vec<&[u8]> = plain.values_of("x-forwarded-for").collect();
            assert_eq!(forwarded, [&b"192.0.2.2"[..], b"192.0.2.1"]);
        });
        assert!(found.is_some());
    }

    #[test]
    fn a_query_is_not_part_of_the_path() {
        let with = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        for target in ["/abc?", "/abc?fbclid=IwAR0_x-9&u=%C3%BC", "/abc?a=b?c=d/e", "/abc?{[|]}~"] {
            let (read, _) = plain(&with(target)).unwrap();
            assert_eq!(read, "a /abc - - 1", "{target}");
        }
        for target in ["/abc?<x>", "/abc?a\"b", "/abc?a#b", "/abc?ü"] {
            assert!(plain(&with(target)).is_none(), "{target}");
        }
    }

    #[test]
    fn a_head_that_ends_the_connection_says_so() {
        for fields in [
            "Connection: close\r\n",
            "CONNECTION: Close\r\n",
            "Connection: close\r\nConnection: keep-alive\r\n",
            "Connection: keep-alive\r\nConnection: close\r\n",
        ] {
            let (read, _) =
                plain(&format!("GET /abc HTTP/1.1\r\nHost: a\r\n{fields}\r\n")).unwrap();
            assert!(read.ends_with(" close"), "{fields}");
        }
    }

    #[test]
    fn whatever_else_a_head_may_say_is_for_hyper() {
        let with = |fields: &str| format!("GET /abc HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
        assert!(plain(&with("")).is_some());
        for fields in [
            "Host: a\r\n",
            "host: b\r\n",
            "Connection: close, te\r\n",
            "bare: LF\n",
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
