//! The TCP or TLS stream that hyper or the fast path reads and writes: for hyper it follows the HTTP/1
//! framing, and it reports its progress to `timeouts`.
//!
//! Invariants: reading and writing cost a few plain stores on top of the system call. hyper gets one
//! message and no byte of the next, so that the connection can be taken back from it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection_state::{CloseOrder, ConnectionState, ReadStage};
use super::http1_framing::Http1Framing;

const TIMED_OUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Ends a head that was made invalid, since hyper parses a head only when it sees the end.
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Most bytes that are read and discarded after the answer to a request that was not read to its end;
/// `timeouts` limits the time.
const LINGER_BYTES: u64 = 64 << 20;
const LINGER_READS: usize = 16;

/// Most bytes that are read while an answer is made: enough to notice a client that disconnects.
const AHEAD_BYTES: usize = 4096;

/// How much hyper is given to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supply {
    /// One message, which is not complete yet.
    Message,
    /// Nothing: it has a message.
    Nothing,
    /// Everything: it keeps the connection.
    All,
}

#[derive(Debug)]
pub(super) struct Socket<T> {
    stream: T,
    state: Arc<ConnectionState>,
    framing: Http1Framing,
    /// The last reported stage; only changes are reported.
    stage: ReadStage,
    blocked: bool,
    written: u64,
    shut: bool,
    discarded: u64,
    supply: Supply,
    /// Bytes that were read and not used yet.
    ahead: Bytes,
    /// How many of them the fast path looks at.
    lent: usize,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Socket<T> {
    pub(super) fn new(stream: T, state: Arc<ConnectionState>) -> Self {
        Self {
            stream,
            state,
            framing: Http1Framing::new(),
            stage: ReadStage::Between,
            blocked: false,
            written: 0,
            shut: false,
            discarded: 0,
            supply: Supply::Message,
            ahead: Bytes::new(),
            lent: 0,
        }
    }

    pub(super) fn state(&self) -> &ConnectionState {
        &self.state
    }

    /// Give the next reader one message of HTTP/1.
    pub(super) fn supply_message(&mut self) {
        self.supply = Supply::Message;
        self.framing = Http1Framing::of_http1();
    }

    /// Give the next reader everything: what a connection begins with may be HTTP/2.
    pub(super) fn supply_all(&mut self) {
        self.supply = Supply::All;
        self.framing = Http1Framing::new();
    }

    /// Read bytes for the fast path, which looks at them and then calls [`Socket::give_back`].
    pub(super) fn poll_lend(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        self.lent = self.ahead.len().min(buf.remaining());
        buf.put_slice(self.ahead.get(..self.lent).unwrap_or_default());
        Poll::Ready(Ok(()))
    }

    /// The end of the lent bytes that were not used: they are read again first.
    pub(super) fn give_back(&mut self, unused: &[u8]) {
        if self.lent > 0 {
            self.ahead.advance(self.lent.saturating_sub(unused.len()));
            self.lent = 0;
        } else if !unused.is_empty() {
            self.ahead = Bytes::copy_from_slice(unused);
        }
    }

    /// Notice a client that disconnects while its answer is made. What it sends meanwhile is kept for
    /// the next reader.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            let mut space = [0; AHEAD_BYTES];
            let mut buf = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.ahead = Bytes::copy_from_slice(buf.filled());
        }
        Poll::Pending
    }

    /// Read from `ahead` or the stream; returns whether it was `ahead`.
    fn poll_source(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        if self.ahead.is_empty() {
            ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
            return Poll::Ready(Ok(false));
        }
        let piece = self.ahead.len().min(buf.remaining());
        buf.put_slice(self.ahead.get(..piece).unwrap_or_default());
        Poll::Ready(Ok(true))
    }

    /// Follow the framing of fresh bytes; returns how many of them the reader gets.
    fn follow(&mut self, fresh: &mut [u8]) -> usize {
        let mut seen = 0;
        while let Some(rest) = fresh.get_mut(seen..).filter(|rest| !rest.is_empty()) {
            let followed = self.framing.follow(rest);
            seen += followed.seen;
            if followed.ended && self.supply == Supply::Message {
                self.supply = Supply::Nothing;
            }
            if !followed.ended || self.supply == Supply::Nothing {
                break;
            }
        }
        seen
    }

    /// The head did not arrive in time. hyper cannot answer 408, so it is written to the stream
    /// directly: while hyper reads a head it writes nothing, unless the client reads no answers.
    fn expire(&mut self, cx: &mut Context<'_>) -> io::Error {
        if self.stage == ReadStage::Head && !self.blocked {
            // Best effort: the connection closes either way.
            let _ = Pin::new(&mut self.stream).poll_write(cx, TIMED_OUT);
            let _ = Pin::new(&mut self.stream).poll_flush(cx);
        }
        io::ErrorKind::TimedOut.into()
    }

    fn wrote(&mut self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(Ok(bytes)) => {
                self.written = self.written.wrapping_add(u64::try_from(bytes).unwrap_or(0));
                self.state.set_written(self.written);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.block(true),
        }
        outcome
    }

    fn block(&mut self, blocked: bool) {
        if self.blocked != blocked {
            self.blocked = blocked;
            self.state.set_blocked(blocked);
        }
    }

    /// Read and discard what the client still sends. Closing with unread bytes makes the kernel send a
    /// reset, which discards an answer that the client has not read yet.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.set_lingering(self.discarded);
        let mut space = [0; 8192];
        for _ in 0..LINGER_READS {
            let mut buf = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf));
            let bytes = u64::try_from(buf.filled().len()).unwrap_or(LINGER_BYTES);
            self.discarded = self.discarded.saturating_add(bytes);
            self.state.set_lingering(self.discarded);
            if read.is_err() || buf.filled().is_empty() || self.discarded > LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
        }
        // A fast sender must not block the worker's other connections.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncRead for Socket<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.state.order() == CloseOrder::Expire {
            return Poll::Ready(Err(this.expire(cx)));
        }
        if this.supply == Supply::Nothing {
            return this.poll_end(cx);
        }
        if this.stage == ReadStage::Refused {
            let end = HEAD_END.get(..buf.remaining().min(HEAD_END.len())).unwrap_or_default();
            buf.put_slice(end);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let from_ahead = ready!(this.poll_source(cx, buf))?;
        let fresh = buf.filled_mut().get_mut(before..).unwrap_or_default();
        let seen = if this.stage == ReadStage::Opaque { fresh.len() } else { this.follow(fresh) };
        if from_ahead {
            this.ahead.advance(seen);
        } else if this.supply == Supply::Nothing {
            this.ahead = Bytes::copy_from_slice(fresh.get(seen..).unwrap_or_default());
        }
        buf.set_filled(before + seen);
        let stage = this.framing.stage();
        if stage != this.stage {
            this.stage = stage;
            this.state.set_stage(stage);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Socket<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.wrote(outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.wrote(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // TCP has nothing to flush. TLS may still hold records that the kernel did not take.
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        this.block(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.state.set_closing();
        if !this.shut {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.shut = true;
        }
        if this.framing.mid_message() { this.linger(cx) } else { Poll::Ready(Ok(())) }
    }
}
