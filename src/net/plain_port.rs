//! TLS at a port without TLS, as somebody gets who writes `https://` for `http://`. A TLS client cannot
//! show the answer; people who look at the bytes, and the log, learn what is wrong.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n\
    connection: close\r\ncontent-length: 83\r\n\r\n\
    This port speaks plain HTTP, and the client speaks TLS: use http:// for this port.\n";

/// Clients could fill the log otherwise.
const LOG_EVERY: Duration = Duration::from_mins(1);

static LOGGED: Mutex<Option<Instant>> = Mutex::new(None);

/// Whether a connection begins with a TLS handshake record.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x16, 3])
}

/// Write the answer to such a client, count it and log it.
pub(super) fn refuse(out: &mut Vec<u8>) {
    out.extend_from_slice(ANSWER);
    metrics::counter!("kurz_tls_at_plain_port_total").increment(1);
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    if logged.is_none_or(|logged| logged.elapsed() >= LOG_EVERY) {
        *logged = Some(Instant::now());
        tracing::warn!(
            "a client speaks TLS at a port that has none: use http:// there, or set \
             KURZ_TLS_CERT and KURZ_TLS_KEY"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_as_long_as_it_says() {
        let text = std::str::from_utf8(ANSWER).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("content-length: {}", body.len())), "{text}");
    }
}
