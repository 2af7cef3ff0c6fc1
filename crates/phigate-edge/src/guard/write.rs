//! Writing: a deadline for callers that do not read, and lingering for callers that still send.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Guard, PIECE_BYTES, Phase};
use crate::body_turns::{TURN_BYTES, next_body_turn};

/// Time for which a closed connection still reads.
const LINGER: Duration = Duration::from_secs(5);

impl<I: AsyncWrite + Unpin> Guard<I> {
    /// Applies the write deadline to a pending write.
    pub(super) fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_deadline.stop();
            return written;
        }
        if !self.write_deadline.is_running() {
            self.write_deadline.start(self.limits.write_stall);
        }
        self.write_deadline
            .poll(cx)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guard<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.note_flushed(false);
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.watch(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.note_flushed(false);
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        this.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.inner).poll_flush(cx);
        let flushed = this.watch(cx, flushed);
        this.note_flushed(matches!(flushed, Poll::Ready(Ok(()))));
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.note_flushed(false);
        if !this.write_is_shut {
            ready!(this.poll_owed(cx))?;
            let shut = Pin::new(&mut this.inner).poll_shutdown(cx);
            ready!(this.watch(cx, shut))?;
            this.write_is_shut = true;
        }
        let caller_may_be_sending = matches!(
            this.phase,
            Phase::Length(_) | Phase::Chunked(_) | Phase::Refused | Phase::Broken
        );
        if !caller_may_be_sending {
            return Poll::Ready(Ok(()));
        }
        if !this.linger.is_running() {
            this.linger.start(LINGER);
        }
        loop {
            if let Some(turn) = &mut this.linger_turn {
                if turn.as_mut().poll(cx).is_pending() {
                    return this.linger.poll(cx).map(Ok);
                }
                this.linger_turn = None;
            }
            let mut space = [MaybeUninit::uninit(); PIECE_BYTES];
            let mut piece = ReadBuf::uninit(&mut space);
            match Pin::new(&mut this.inner).poll_read(cx, &mut piece) {
                Poll::Ready(Ok(())) if !piece.filled().is_empty() && !this.linger.is_over() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return this.linger.poll(cx).map(Ok),
            }
            this.lingered += piece.filled().len();
            if this.lingered >= TURN_BYTES {
                this.lingered = 0;
                this.linger_turn = Some(next_body_turn());
            }
        }
    }
}
