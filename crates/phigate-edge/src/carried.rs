//! Body of an answer while it is sent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body::Frame;
use tokio::time::Sleep;

use crate::activity::Ongoing;

/// Delay before an error closes the connection, so that earlier chunks are flushed.
const FLUSH_DELAY: Duration = Duration::from_millis(50);

/// Body that keeps the resources of its request until it was sent or dropped.
pub(crate) struct Carried<H> {
    body: Body,
    /// Error that waits until the chunks before it were flushed.
    breaking: Option<Breaking>,
    ongoing: Ongoing,
    _held: H,
}

struct Breaking {
    wait: Pin<Box<Sleep>>,
    error: axum::Error,
}

impl<H> Carried<H> {
    pub(crate) fn new(body: Body, ongoing: Ongoing, held: H) -> Self {
        Self {
            body,
            breaking: None,
            ongoing,
            _held: held,
        }
    }

    /// Polls the next chunk. An error closes the connection at once and discards its buffers; without the delay the
    /// error event before it would be lost too.
    fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.breaking.is_none() {
            match ready!(http_body::Body::poll_frame(Pin::new(&mut self.body), cx)) {
                Some(Err(error)) => {
                    let wait = Box::pin(tokio::time::sleep(FLUSH_DELAY));
                    self.breaking = Some(Breaking { wait, error });
                }
                piece => return Poll::Ready(piece),
            }
        }
        if let Some(breaking) = &mut self.breaking {
            ready!(breaking.wait.as_mut().poll(cx));
        }
        Poll::Ready(self.breaking.take().map(|breaking| Err(breaking.error)))
    }
}

impl<H: Unpin> http_body::Body for Carried<H> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = self.poll_piece(cx);
        match polled {
            Poll::Ready(_) => self.ongoing.offered(Instant::now()),
            Poll::Pending => self.ongoing.taken(),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.breaking.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
