//! The first read of a connection, before a task is made for it. A connection that carries one request, which is
//! there when the connection is accepted, costs no task, no timeouts and no wait.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use bytes::Bytes;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::fast_path::{FastPath, FastReader, NextReader, ROOM};

impl FastReader {
    /// Answer what the client has sent already; the bytes that were read and not answered, or `None` when the
    /// connection ended with the answer.
    pub(super) fn read_first<S: FastPath>(
        &mut self,
        stream: impl AsFd,
        service: &S,
    ) -> Option<Bytes> {
        let mut space = [const { MaybeUninit::uninit() }; ROOM];
        let Ok(((bytes, _), _)) = recv(&stream, &mut space[..], RecvFlags::DONTWAIT) else {
            return Some(Bytes::new());
        };
        if bytes.is_empty() {
            // The client closed the connection, or will be read from again.
            return Some(Bytes::new());
        }
        let unread =
            if self.begins_otherwise(bytes) { &*bytes } else { self.answer(bytes, service) };
        if self.next == Some(NextReader::Nobody) && self.later.is_none() && unread.is_empty() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            self.sent = send(&stream, &self.out, flags).unwrap_or(0);
            if self.sent == self.out.len() {
                return None;
            }
        }
        Some(Bytes::copy_from_slice(unread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::fast_path::{FastReply, PlainHead};
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    /// Answers `/` at once, and leaves the rest to hyper.
    struct Echo;

    impl FastPath for Echo {
        fn try_answer(&self, plain: &PlainHead<'_>, out: &mut Vec<u8>) -> FastReply {
            if plain.path != "/" {
                return FastReply::Unknown;
            }
            out.extend_from_slice(b"answer");
            FastReply::Done
        }
    }

    fn first(sent: &str) -> (Option<Bytes>, FastReader, UnixStream) {
        let (mut client, server) = UnixStream::pair().unwrap();
        client.write_all(sent.as_bytes()).unwrap();
        let mut reader = FastReader::new(false);
        let unread = reader.read_first(&server, &Echo);
        (unread, reader, client)
    }

    const KEPT: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const LAST: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    #[test]
    fn a_connection_whose_last_request_is_there_ends_with_the_answer() {
        for (sent, expected) in
            [(LAST.to_owned(), "answer"), ([KEPT, LAST].concat(), "answeranswer")]
        {
            let (unread, _, mut client) = first(&sent);
            assert!(unread.is_none());
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            assert_eq!(answer, expected);
        }
    }

    #[test]
    fn whatever_else_a_client_sends_first_is_kept_for_the_task() {
        let other = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        for (sent, unread, answers, next) in [
            ("", "", "", None),
            (KEPT, "", "answer", None),
            (other, other, "", Some(NextReader::Http1)),
            (&[KEPT, "GET /"].concat(), "GET /", "answer", Some(NextReader::Http1)),
            (&[LAST, "GET"].concat(), "GET", "answer", Some(NextReader::Nobody)),
            ("PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n", "", Some(NextReader::Http2)),
        ] {
            let (rest, reader, _client) = first(sent);
            assert_eq!(rest.as_deref(), Some(unread.as_bytes()), "{sent}");
            assert_eq!((reader.out.as_slice(), reader.next), (answers.as_bytes(), next), "{sent}");
        }
    }
}
