//! Reads the body of a request, with a limit on its size.

use axum::body::{Body, Bytes};
use http::StatusCode;
use http_body::Body as _;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::Problem;

/// A body of at most `most` bytes. One whose length is known to be larger is refused before any of it
/// is read; a client that asked whether to send it (`Expect: 100-continue`) is then not told to.
pub(crate) async fn read_body(body: Body, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("The body is larger than {most} bytes.");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail)
    };
    if usize::try_from(body.size_hint().lower()).is_ok_and(|bytes| bytes > most) {
        return Err(too_large());
    }
    let body = Limited::new(body, most).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            return too_large();
        }
        let detail = "The body ended before it was complete.";
        Problem::new(StatusCode::BAD_REQUEST, "body-incomplete", detail)
    })?;
    Ok(body.to_bytes())
}
