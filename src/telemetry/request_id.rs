//! Request ids: taken from a trusted proxy, or made. A client's own id is never taken, since it
//! could make two requests look like one in the log.

use std::fmt::{self, Write};

use compact_str::CompactString;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use serde::{Serialize, Serializer};

use crate::entropy::Entropy;

/// The header that carries a request id, in both directions.
pub(super) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const MAX_LENGTH: usize = 128;

/// The id of a request: 1 to 128 of `A-Z a-z 0-9 . _ -`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(CompactString);

impl RequestId {
    fn parse(text: &str) -> Option<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        let valid = (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(allowed);
        valid.then(|| Self(text.into()))
    }

    /// The id in these headers, if there is exactly one and it is valid.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(X_REQUEST_ID).iter();
        let (first, None) = (values.next()?, values.next()) else { return None };
        Self::parse(first.to_str().ok()?)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Put the id into the headers of a response.
    pub fn insert_into(&self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.0) {
            headers.insert(X_REQUEST_ID, value);
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[derive(Clone, Debug)]
pub struct RequestIds(Entropy);

impl RequestIds {
    /// Ids from the bytes of `entropy`.
    pub fn new(entropy: Entropy) -> Self {
        Self(entropy)
    }

    /// A new id: 64 random bits in hexadecimal.
    pub fn make(&self) -> RequestId {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        RequestId(hex(&bytes))
    }

    /// The id that a trusted proxy sent, or a new one.
    pub fn of(&self, headers: &HeaderMap, is_trusted: bool) -> RequestId {
        let sent = if is_trusted { RequestId::of(headers) } else { None };
        sent.unwrap_or_else(|| self.make())
    }
}

pub(super) fn hex(bytes: &[u8]) -> CompactString {
    bytes.iter().fold(CompactString::default(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids() -> RequestIds {
        RequestIds::new(Entropy::from_fn(|bytes| bytes.fill(0xab)))
    }

    fn headers(values: &[&str]) -> HeaderMap {
        let values = values.iter().map(|text| HeaderValue::from_str(text).unwrap());
        values.map(|value| (X_REQUEST_ID, value)).collect()
    }

    const MADE: &str = "abababababababab";

    #[test]
    fn a_valid_id_is_taken_from_a_trusted_proxy_alone() {
        let sent = headers(&["Req_1.a-Z"]);
        assert_eq!(ids().of(&sent, true).as_str(), "Req_1.a-Z");
        assert_eq!(ids().of(&sent, false).as_str(), MADE);
        assert_eq!(ids().of(&HeaderMap::new(), true).as_str(), MADE);
    }

    #[test]
    fn an_invalid_id_is_replaced() {
        let longest = "a".repeat(MAX_LENGTH);
        assert_eq!(ids().of(&headers(&[&longest]), true).as_str(), longest);
        let long = "a".repeat(MAX_LENGTH + 1);
        let bad: [&[&str]; 7] =
            [&[""], &["a b"], &["a\"b"], &["a\tb"], &["a=b"], &[&long], &["a", "a"]];
        for values in bad {
            assert_eq!(ids().of(&headers(values), true).as_str(), MADE, "{values:?}");
        }
    }

    #[test]
    fn an_id_can_be_sent_back() {
        let mut answer = HeaderMap::new();
        ids().make().insert_into(&mut answer);
        assert_eq!(answer[X_REQUEST_ID], MADE);
    }
}
