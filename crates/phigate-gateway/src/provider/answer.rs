//! A provider's answer as it arrives, with limits on its size, its pauses and its total time.

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

/// An answer whose body may still be on its way. Dropping it closes the call.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Answer,
}

/// The body of an answer, piece by piece.
#[derive(Debug)]
pub(crate) struct Answer {
    /// None when no more is read.
    body: Option<Body>,
    /// The connection it comes on, where that has no task of its own.
    loan: Option<Loan>,
    bytes_left: u64,
    idle: Duration,
    whole_deadline: Instant,
    /// When the last piece came.
    heard: Instant,
    /// Rings at the first moment at which the answer may be late. Setting it anew for every piece of a stream would
    /// cost more than the piece: what came in between is looked at when it rings.
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

    /// The whole body.
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

    /// The next piece, if it came together with the one before. The connection's own task hands them over one at a
    /// time, so it gets a turn before this gives up.
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

    /// Nothing more is read. A connection on which nothing more can come is kept, any other is closed.
    fn hang_up(&mut self) {
        self.body = None;
        if let Some(loan) = self.loan.take() {
            loan.give_back();
        }
    }

    /// Ready when the next piece is too late.
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
            // Trailers hold nothing for us.
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
    /// The end of a stream may be here without having been read.
    fn drop(&mut self) {
        if !self.is_over {
            self.hang_up();
        }
    }
}
