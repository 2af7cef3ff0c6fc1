//! Connection as seen by the HTTP library: only checked heads, deadlines in both directions.
//!
//! Checks beyond those of the library:
//! - A head is buffered until it is complete and passed `head::check`. A refused one is replaced by a synthetic
//!   request, so that the refusal is answered in order and with an id.
//! - A head must be complete before its deadline, and a caller that does not read is dropped.
//! - A connection closed while the caller still sends lingers, because an immediate close would reset it and discard
//!   the answer.
//! - A rate-limited request is refused here, because refusals must be cheap.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::body_turns::BodyTurn;
use crate::chunked::{Chunked, Step};
use crate::error::EdgeError;
use crate::head::{self, Found, Framing, HeadLimits};
use crate::timer::Timer;

mod turn;
mod write;

#[cfg(test)]
pub(crate) use turn::BEAT;
use turn::PendingRefusals;
pub(crate) use turn::Turn;

/// Method of the synthetic request for a refused head. `head::check` rejects it from callers.
pub(crate) const REFUSE: &str = "REFUSE";

/// The first bytes of HTTP/2 with prior knowledge.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const PIECE_BYTES: usize = 16 * 1024;

/// Deadlines and limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GuardLimits {
    pub(crate) head: HeadLimits,
    pub(crate) header_read: Duration,
    pub(crate) write_stall: Duration,
}

/// A connection behind the strict HTTP/1 parser.
pub(crate) struct Guard<I> {
    inner: I,
    limits: GuardLimits,
    phase: Phase,
    /// Bytes from the caller that the library has not read.
    held: BytesMut,
    /// Number of bytes in `held` that the library may read.
    released: usize,
    /// Offset behind the released bytes up to which the end of the head was searched.
    searched: usize,
    head_deadline: Timer,
    write_deadline: Timer,
    linger: Timer,
    /// Bytes read while lingering since the last turn, and the wait for the next turn.
    lingered: usize,
    linger_turn: Option<BodyTurn>,
    write_is_shut: bool,
    /// Whether all written bytes were flushed.
    is_flushed: bool,
    at_rest: AtRest,
    /// Requests handed to the library.
    given: u64,
    turn: Option<Turn>,
    pending: PendingRefusals,
    /// Pause of reading after a refusal.
    pause: Timer,
}

/// Whether an HTTP/1 connection is between two requests: the last answer is flushed, and no byte of the next request is
/// here. Shared, because the library owns the guard.
#[derive(Debug, Clone, Default)]
pub(crate) struct AtRest(Arc<AtomicBool>);

impl AtRest {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Protocol of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    Http1,
    Http2,
}

/// Expected next bytes.
enum Phase {
    /// The first bytes decide between HTTP/1 and HTTP/2.
    Start,
    Head,
    Length(u64),
    Chunked(Chunked),
    /// HTTP/2 has its own framing.
    Http2,
    /// Reading has stopped: the head was refused.
    Refused,
    /// Reading has stopped: the framing of a body was wrong.
    Broken,
}

impl<I> Guard<I> {
    pub(crate) fn new(inner: I, limits: GuardLimits) -> Self {
        let mut head_deadline = Timer::default();
        head_deadline.start(limits.header_read);
        Self {
            inner,
            limits,
            phase: Phase::Start,
            held: BytesMut::new(),
            released: 0,
            searched: 0,
            head_deadline,
            write_deadline: Timer::default(),
            linger: Timer::default(),
            lingered: 0,
            linger_turn: None,
            write_is_shut: false,
            is_flushed: true,
            at_rest: AtRest::default(),
            given: 0,
            turn: None,
            pending: PendingRefusals::nothing(),
            pause: Timer::default(),
        }
    }

    pub(crate) fn at_rest(&self) -> AtRest {
        self.at_rest.clone()
    }

    /// Whether a part of a head is buffered.
    pub(crate) fn is_half_sent(&self) -> bool {
        !self.held.is_empty()
    }

    /// Frees empty buffers.
    pub(crate) fn shrink(&mut self) {
        if self.held.is_empty() {
            self.held = BytesMut::new();
        }
        if self.pending.is_nothing() {
            self.pending = PendingRefusals::nothing();
        }
    }

    fn note_flushed(&mut self, is_flushed: bool) {
        self.is_flushed = is_flushed;
        self.note_rest();
    }

    fn note_rest(&self) {
        let at_rest = self.is_flushed
            && self.pending.is_nothing()
            && self.held.is_empty()
            && matches!(self.phase, Phase::Head);
        self.at_rest.0.store(at_rest, Ordering::Relaxed);
    }

    /// Parses the bytes behind the released ones and releases complete parts.
    fn sort(&mut self) {
        while self.released < self.held.len() {
            let rest = &self.held[self.released..];
            match &mut self.phase {
                Phase::Start
                    if HTTP2_PREFACE.starts_with(rest) && rest.len() < HTTP2_PREFACE.len() =>
                {
                    return;
                }
                Phase::Start if rest.starts_with(HTTP2_PREFACE) => {
                    self.head_deadline.stop();
                    self.phase = Phase::Http2;
                }
                Phase::Start => self.phase = Phase::Head,
                Phase::Head => {
                    if !self.sort_head() {
                        return;
                    }
                }
                Phase::Length(left) => {
                    let here = (rest.len() as u64).min(*left);
                    *left -= here;
                    self.released += usize::try_from(here).unwrap_or(rest.len());
                    if *left == 0 {
                        self.phase = Phase::Head;
                    }
                }
                Phase::Chunked(chunked) => match chunked.follow(rest) {
                    Step::More => self.released = self.held.len(),
                    Step::End(position) => {
                        self.released += position;
                        self.phase = Phase::Head;
                    }
                    Step::Broken => self.phase = Phase::Broken,
                },
                Phase::Http2 => self.released = self.held.len(),
                Phase::Refused | Phase::Broken => self.held.truncate(self.released),
            }
        }
    }

    /// Releases or refuses the head at the front; returns false if it is incomplete.
    fn sort_head(&mut self) -> bool {
        // A blank line before a request line is allowed and ignored.
        if self.searched == 0 && self.held[self.released..].starts_with(b"\r\n") {
            let rest = self.held.split_off(self.released + 2);
            self.held.truncate(self.released);
            self.held.unsplit(rest);
            return true;
        }
        let rest = &self.held[self.released..];
        let checked = match head::find_end(rest, self.searched, &self.limits.head) {
            Ok(Found::More(searched)) => {
                self.searched = searched;
                if !self.head_deadline.is_running() {
                    self.head_deadline.start(self.limits.header_read);
                }
                return false;
            }
            Ok(Found::End(end)) => {
                head::check(&rest[..end], &self.limits.head).map(|framing| (end, framing))
            }
            Err(error) => Err(error),
        };
        self.searched = 0;
        match checked {
            Ok((end, framing)) if self.turn_away(end, framing) => {}
            Ok((end, framing)) => {
                self.head_deadline.stop();
                self.given += 1;
                self.released += end;
                self.phase = match framing {
                    Framing::Length(0) => Phase::Head,
                    Framing::Length(length) => Phase::Length(length),
                    Framing::Chunked => Phase::Chunked(Chunked::new()),
                };
            }
            Err(error) => self.refuse(error),
        }
        true
    }

    /// Replaces the refused request with a synthetic one and stops reading.
    fn refuse(&mut self, error: EdgeError) {
        self.head_deadline.stop();
        self.given += 1;
        self.held.truncate(self.released);
        let request = format!(
            "{REFUSE} /{} HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n",
            error.number()
        );
        self.held.extend_from_slice(request.as_bytes());
        self.released = self.held.len();
        self.phase = Phase::Refused;
    }
}

impl<I: AsyncRead + Unpin> Guard<I> {
    /// Reads a body of known length straight into the library's buffer, and no byte beyond it.
    fn read_body(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
        left: u64,
    ) -> Poll<io::Result<()>> {
        let room = usize::try_from(left).map_or(out.remaining(), |left| left.min(out.remaining()));
        let mut piece = ReadBuf::new(out.initialize_unfilled_to(room));
        ready!(Pin::new(&mut self.inner).poll_read(cx, &mut piece))?;
        let count = piece.filled().len();
        out.advance(count);
        self.phase = match left - count as u64 {
            0 => Phase::Head,
            left => Phase::Length(left),
        };
        Poll::Ready(Ok(()))
    }

    /// Reads from the caller; returns false at the end of the input.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut space = [MaybeUninit::uninit(); PIECE_BYTES];
        let mut piece = ReadBuf::uninit(&mut space);
        match Pin::new(&mut self.inner).poll_read(cx, &mut piece) {
            Poll::Ready(Ok(())) if piece.filled().is_empty() => return Poll::Ready(Ok(false)),
            Poll::Ready(Ok(())) => {
                self.held.extend_from_slice(piece.filled());
                self.sort();
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => {
                ready!(self.head_deadline.poll(cx));
                if self.held.is_empty() {
                    return Poll::Ready(Ok(false));
                }
                self.refuse(EdgeError::HeadTimeout);
            }
        }
        Poll::Ready(Ok(true))
    }

    /// Waits for a request and returns its protocol; `None` if the caller has closed.
    pub(crate) fn poll_request(&mut self, cx: &mut Context<'_>) -> Poll<Option<Speaks>> {
        while self.released == 0 {
            match ready!(self.poll_fill(cx)) {
                Ok(true) => {}
                Ok(false) | Err(_) => return Poll::Ready(None),
            }
        }
        Poll::Ready(Some(match self.phase {
            Phase::Http2 => Speaks::Http2,
            _ => Speaks::Http1,
        }))
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> Guard<I> {
    fn poll_released(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_owed(cx))?;
            ready!(self.poll_pause(cx));
            if self.released > 0 {
                let count = self.released.min(out.remaining());
                out.put_slice(&self.held[..count]);
                self.held.advance(count);
                self.released -= count;
                return Poll::Ready(Ok(()));
            }
            match self.phase {
                // The library still has to answer; the connection's checks end it.
                Phase::Refused => return Poll::Pending,
                Phase::Broken => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                Phase::Http2 if self.held.is_empty() => {
                    return Pin::new(&mut self.inner).poll_read(cx, out);
                }
                Phase::Length(left) if self.held.is_empty() => {
                    return self.read_body(cx, out, left);
                }
                _ => {}
            }
            if !ready!(self.poll_fill(cx))? {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guard<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = this.poll_released(cx, out);
        this.note_rest();
        read
    }
}
