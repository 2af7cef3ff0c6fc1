//! A provider's answer as it arrives, with limits on its size, on pauses and on its total time.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use http::{HeaderMap, StatusCode};
use http_body::{Body as _, Frame};
use hyper::body::Incoming as Body;
use tokio::time::{Instant, Sleep};

use super::ProviderError;
use super::lines::Loan;

/// An answer whose body may still be arriving. Dropping it closes the call.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Answer,
}

/// The body of an answer, in pieces.
#[derive(Debug)]
pub(crate) struct Answer {
    /// `None` after the last read.
    body: Option<Body>,
    /// The connection of the answer, if it has no task.
    loan: Option<Loan>,
    bytes_left: u64,
    idle: Duration,
    whole_deadline: Instant,
    /// Arrival time of the last piece.
    heard: Instant,
    /// Timer for the earliest moment at which the answer may be late. It is not reset for every piece of a stream,
    /// which would cost more than the piece; when it fires, the arrival time of the last piece decides.
    alarm: Pin<Box<Sleep>>,
    is_over: bool,
}

impl Answer {
    pub(super) fn new(
        (body, loan): (Body, Option<Loan>),
        bytes_max: u64,
        idle: Duration,
        whole_deadline: Instant,
    ) -> Self {
        let heard = Instant::now();
        Self {
            body: Some(body),
            loan,
            bytes_left: bytes_max,
            idle,
            whole_deadline,
            heard,
            alarm: Box::pin(tokio::time::sleep_until((heard + idle).min(whole_deadline))),
            is_over: false,
        }
    }

    /// Reads the complete body.
    pub(crate) async fn read_all(mut self) -> Result<Bytes, ProviderError> {
        let Some(first) = self.next().await.transpose()? else {
            return Ok(Bytes::new());
        };
        let Some(second) = self.next().await.transpose()? else {
            return Ok(first);
        };
        let mut whole = BytesMut::from(first);
        whole.extend_from_slice(&second);
        while let Some(piece) = self.next().await.transpose()? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    /// The next piece, if it has already arrived. The connection's task hands pieces over one at a time, so this yields
    /// to it once before it gives up.
    pub(crate) async fn next_at_hand(&mut self) -> Option<Result<Bytes, ProviderError>> {
        let mut gave_way = false;
        std::future::poll_fn(|cx| match self.poll_next_unpin(cx) {
            Poll::Ready(item) => Poll::Ready(item),
            Poll::Pending if gave_way => Poll::Ready(None),
            Poll::Pending => {
                gave_way = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }

    /// Stops reading. A connection without further data is kept; any other is closed.
    fn hang_up(&mut self) {
        self.body = None;
        if let Some(loan) = self.loan.take() {
            loan.give_back();
        }
    }

    /// Ready when the next piece is late.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(cx));
            let deadline = (self.heard + self.idle).min(self.whole_deadline);
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(deadline);
        }
    }

    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let mut body = Pin::new(body);
        match &mut self.loan {
            Some(loan) => loan.line.drive(cx, |cx| body.as_mut().poll_frame(cx)),
            None => body.poll_frame(cx),
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ProviderError>>> {
        loop {
            let frame = match self.poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(Err(ProviderError::Broken))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    ready!(self.poll_late(cx));
                    return Poll::Ready(Some(Err(ProviderError::Timeout)));
                }
            };
            // Trailers are ignored.
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            let Some(left) = self.bytes_left.checked_sub(piece.len() as u64) else {
                return Poll::Ready(Some(Err(ProviderError::TooLarge)));
            };
            self.bytes_left = left;
            self.heard = Instant::now();
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(piece)));
            }
        }
    }
}

impl Stream for Answer {
    type Item = Result<Bytes, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let item = ready!(self.poll_piece(cx));
        self.is_over = !matches!(item, Some(Ok(_)));
        if item.is_none() {
            self.hang_up();
        }
        Poll::Ready(item)
    }
}

impl Drop for Answer {
    /// Keeps the connection if the stream has ended but its end was not read.
    fn drop(&mut self) {
        if !self.is_over {
            self.hang_up();
        }
    }
}
