//! The response body: complete bytes from the data plane, a stream from the router. One type for
//! both, so that a redirect needs no boxed body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;

#[derive(Debug)]
pub(super) enum ResponseBody {
    Small(Full<Bytes>),
    Any(axum::body::Body),
}

impl Default for ResponseBody {
    fn default() -> Self {
        Self::Small(Full::default())
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::Small(Full::new(bytes))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Self::Small(body) => Pin::new(body).poll_frame(context).map_err(|never| match never {}),
            Self::Any(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Small(body) => body.is_end_stream(),
            Self::Any(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Small(body) => body.size_hint(),
            Self::Any(body) => body.size_hint(),
        }
    }
}
