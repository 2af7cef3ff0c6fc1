//! Requests that the guard refuses before the library sees them.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime};

use bytes::{Buf, BytesMut};
use tokio::io::AsyncWrite;

use super::{Guard, Phase};
use crate::activity::Activity;
use crate::drain::Drain;
use crate::early_limiter::{Asked, EarlyLimiter};
use crate::head::Framing;

/// Interval at which refused connections are polled again, all together. A refusal costs half as much right after
/// another one, because answers evict its data from the processor's caches.
pub(crate) const BEAT: Duration = Duration::from_millis(10);

/// Refusals that are not flushed yet.
pub(super) struct PendingRefusals {
    bytes: BytesMut,
    is_flushed: bool,
}

impl PendingRefusals {
    pub(super) fn nothing() -> Self {
        Self {
            bytes: BytesMut::new(),
            is_flushed: true,
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.bytes.is_empty() && self.is_flushed
    }
}

/// The early limiter, and the connection's state that it needs.
#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) early_limiter: Arc<dyn EarlyLimiter>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) drain: Drain,
}

impl<I> Guard<I> {
    /// Sets the early limiter; with `None`, the library sees all requests.
    pub(crate) fn set_turn(&mut self, turn: Option<Turn>) {
        self.turn = turn;
    }

    /// Refuses the request at the front if it is complete and over a limit. The answer is written next.
    pub(super) fn turn_away(&mut self, end: usize, framing: Framing) -> bool {
        let Some(turn) = &self.turn else {
            return false;
        };
        let Framing::Length(length) = framing else {
            return false;
        };
        let whole = usize::try_from(length)
            .ok()
            .and_then(|length| end.checked_add(length));
        let Some(whole) = whole.filter(|whole| *whole <= self.held.len()) else {
            return false;
        };
        // Answers keep their order, so the library must not have a pending request or answer.
        let library_rests =
            self.released == 0 && self.is_flushed && turn.activity.has_answered(self.given);
        if !library_rests || turn.drain.is_draining() {
            return false;
        }
        let Some(asked) = Asked::read(&self.held[..end]) else {
            return false;
        };
        let Some(refusal) = turn.early_limiter.turn_away(&asked) else {
            return false;
        };
        refusal.write(
            *asked.request_id,
            SystemTime::now(),
            &mut self.pending.bytes,
        );
        turn.activity.touch(Instant::now());
        self.held.advance(whole);
        self.head_deadline.stop();
        self.phase = Phase::Head;
        self.pause.start_at(next_beat());
        true
    }

    /// Waits for the next beat if the last request was refused.
    pub(super) fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.pause.is_running() {
            ready!(self.pause.poll(cx));
            self.pause.stop();
        }
        Poll::Ready(())
    }
}

/// Next beat, at the same moment for all connections.
fn next_beat() -> tokio::time::Instant {
    static FIRST: LazyLock<tokio::time::Instant> = LazyLock::new(tokio::time::Instant::now);
    let beats = FIRST.elapsed().as_nanos() / BEAT.as_nanos() + 1;
    *FIRST + BEAT * u32::try_from(beats).unwrap_or(u32::MAX)
}

impl<I: AsyncWrite + Unpin> Guard<I> {
    /// Writes the pending refusals.
    pub(super) fn poll_owed(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.bytes.is_empty() {
            let written = Pin::new(&mut self.inner).poll_write(cx, &self.pending.bytes);
            let count = ready!(self.watch(cx, written))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.pending.bytes.advance(count);
            self.pending.is_flushed = false;
        }
        if !self.pending.is_flushed {
            let flushed = Pin::new(&mut self.inner).poll_flush(cx);
            ready!(self.watch(cx, flushed))?;
            self.pending.is_flushed = true;
        }
        Poll::Ready(Ok(()))
    }
}
