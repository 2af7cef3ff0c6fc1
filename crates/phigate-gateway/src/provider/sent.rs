//! The body of a request on its way to a provider.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use phigate_edge::TURN_BYTES;

/// A buffered body. A large one is written in pieces: the system would accept megabytes at once, and copying them would
/// delay other requests on the thread. Bodies do not queue for one another, because a body whose provider reads slowly
/// would keep its turn.
pub(super) struct Sent {
    rest: Bytes,
    /// Pending yield between pieces.
    pause: Option<Pause>,
}

type Pause = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Sent {
    pub(super) fn new(body: Bytes) -> Self {
        Sent {
            rest: body,
            pause: None,
        }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        let length = self.rest.len().min(TURN_BYTES);
        let piece = self.rest.split_to(length);
        if !self.rest.is_empty() {
            self.pause = Some(Box::pin(tokio::task::yield_now()));
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn large_body_is_sent_in_pieces() {
        for length in [0, 1, TURN_BYTES, TURN_BYTES + 1, 5 * TURN_BYTES + 7] {
            let body: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut sent = Sent::new(body.clone().into());
            assert_eq!(sent.size_hint().exact(), Some(length as u64));
            let (mut read, mut pauses) = (Vec::new(), 0);
            loop {
                let frame = std::future::poll_fn(|context| {
                    let polled = Pin::new(&mut sent).poll_frame(context);
                    pauses += usize::from(polled.is_pending());
                    polled
                });
                let Some(frame) = frame.await else { break };
                let data = frame.unwrap().into_data().unwrap();
                assert!(data.len() <= TURN_BYTES);
                read.extend(data);
            }
            assert!(read == body && sent.is_end_stream());
            assert_eq!(pauses, length.div_ceil(TURN_BYTES).saturating_sub(1));
        }
        let whole = Sent::new(Bytes::from_static(b"{}")).collect().await;
        assert_eq!(whole.unwrap().to_bytes(), "{}");
    }
}
