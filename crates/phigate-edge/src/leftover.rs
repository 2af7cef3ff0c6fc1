//! Draining of a request's HTTP/2 body that its handler does not read.
//!
//! A refusal is often written before the body is read. Dropping the body then resets the stream, and some clients (curl
//! 7.88 among them) report the reset instead of the answer. On HTTP/1 the guard handles the same problem of the
//! connection.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// Limits of draining.
const BYTES_MAX: usize = 1024 * 1024;
const TIME_MAX: Duration = Duration::from_secs(2);

/// Body that is drained when dropped unread.
pub(crate) struct Leftover {
    /// `None` only while dropping.
    body: Option<Incoming>,
}

impl Leftover {
    pub(crate) fn new(body: Incoming) -> Self {
        Self { body: Some(body) }
    }
}

impl Body for Leftover {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if self.is_end_stream() {
            return;
        }
        if let Some(body) = self.body.take() {
            tokio::spawn(tokio::time::timeout(TIME_MAX, read_on(body)));
        }
    }
}

async fn read_on(mut body: Incoming) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > BYTES_MAX {
            return;
        }
    }
}
