//! One connection: idle connections hold no HTTP buffers.
//!
//! The HTTP/1 library's state is mostly buffers. A connection that was idle for a moment drops them and waits with its
//! guard alone, so thousands of idle ones are cheap. A connection with a further request soon after keeps them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::activity::{Activity, Verdict};
use crate::connection_slots::ConnectionSlot;
use crate::guard::{Guard, Speaks, Turn};
use crate::poll_on_wake::PollOnWake;
use crate::server::Server;

/// Time for the first request of a new connection during a drain. Otherwise its caller would see a close without a
/// reason.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// Idle time after which a connection drops the library's buffers.
const KEEP_READY: Duration = Duration::from_millis(500);

/// Event of a connection besides its requests.
enum Sign {
    /// The drain has started.
    Draining,
    /// The drain has ended.
    Over,
    /// The connection is evicted.
    AskedToGo,
    /// Time to check for idle and stalled callers.
    Look,
}

/// Result of serving HTTP/1 on a connection.
#[derive(PartialEq, Eq)]
enum Spoken {
    /// The connection is closed.
    Over,
    /// The connection is idle and stays open.
    Rests,
}

/// A caller's connection and its state.
pub(crate) struct Caller<'a> {
    pub(crate) peer: SocketAddr,
    pub(crate) slot: &'a ConnectionSlot,
    activity: Arc<Activity>,
    /// Opening time of the connection, until the drain is announced to the caller.
    untold: Option<Instant>,
}

impl<'a> Caller<'a> {
    fn new(peer: SocketAddr, slot: &'a ConnectionSlot, is_draining: bool) -> Self {
        let opened = Instant::now();
        Self {
            peer,
            slot,
            activity: Activity::new(opened),
            // A connection opened during the drain gets one answer: 503.
            untold: (!is_draining).then_some(opened),
        }
    }
}

impl Server {
    /// Serves a connection until it is over.
    pub(crate) async fn speak_http<I>(&self, stream: I, peer: SocketAddr, slot: &ConnectionSlot)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut caller = Caller::new(peer, slot, self.drain.is_draining());
        let mut guard = Guard::new(stream, self.guard);
        loop {
            match self.wait(&mut guard, &caller).await {
                Some(Speaks::Http1) => {
                    let spoken = Box::pin(self.speak_http1(&mut guard, &mut caller));
                    if spoken.await == Spoken::Over {
                        return;
                    }
                }
                Some(Speaks::Http2) => return Box::pin(self.speak_http2(guard, caller)).await,
                None => break,
            }
        }
        let _ = guard.shutdown().await;
    }

    /// Waits for a request; `None` if the connection is to be closed.
    async fn wait<I>(&self, guard: &mut Guard<I>, caller: &Caller<'_>) -> Option<Speaks>
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        guard.shrink();
        // The early limiter does not update the slot.
        guard.set_turn(None);
        caller.slot.rest(caller.activity.last());
        let mut is_half_sent = false;
        loop {
            let mut sign = PollOnWake::new(self.sign(self.look_every(), caller));
            let turn = std::future::poll_fn(|cx| {
                if let Poll::Ready(request) = guard.poll_request(cx) {
                    return Poll::Ready(Ok(request));
                }
                if guard.is_half_sent() && !is_half_sent {
                    is_half_sent = true;
                    caller.slot.rest(Instant::now());
                }
                Pin::new(&mut sign).poll(cx).map(Err)
            });
            match turn.await {
                Ok(request) => {
                    caller.slot.work();
                    return request;
                }
                Err(Sign::Draining | Sign::Over | Sign::AskedToGo) => return None,
                Err(Sign::Look) => {
                    // A head that has begun has its own deadline.
                    let is_idle = self.look(caller, self.idle) == Verdict::Idle;
                    if is_idle && !is_half_sent {
                        return None;
                    }
                }
            }
        }
    }

    async fn speak_http1<I>(&self, guard: &mut Guard<I>, caller: &mut Caller<'_>) -> Spoken
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        let at_rest = guard.at_rest();
        guard.set_turn(self.edge.early_limiter.as_ref().map(|early_limiter| Turn {
            early_limiter: Arc::clone(early_limiter),
            activity: Arc::clone(&caller.activity),
            drain: self.drain.clone(),
        }));
        let service = self.service(caller);
        let mut connection = self.http1.serve_connection(TokioIo::new(guard), service);
        let keep_ready = self.keep_ready();
        loop {
            let sign = self.sign(keep_ready, caller);
            match turn(Pin::new(&mut connection), sign).await {
                None | Some(Sign::Over) => return Spoken::Over,
                Some(Sign::AskedToGo) => continue,
                Some(Sign::Draining) => {}
                Some(Sign::Look) => {
                    if at_rest.get() && caller.activity.is_quiet(Instant::now(), keep_ready) {
                        // Bytes that the library buffered and did not parse would be lost with it.
                        let is_all_read = connection.into_parts().read_buf.is_empty();
                        return if is_all_read {
                            Spoken::Rests
                        } else {
                            Spoken::Over
                        };
                    }
                    match self.look(caller, self.idle) {
                        Verdict::Fine => continue,
                        Verdict::Idle if caller.untold.is_some() => {}
                        Verdict::Idle | Verdict::Stalled => return Spoken::Over,
                    }
                }
            }
            caller.untold = None;
            Pin::new(&mut connection).graceful_shutdown();
        }
    }

    async fn speak_http2<I>(&self, guard: Guard<I>, mut caller: Caller<'_>)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = self.service(&caller);
        let mut connection = pin!(self.http2.serve_connection(TokioIo::new(guard), service));
        let (mut idle, slot) = (self.idle, caller.slot);
        loop {
            // An idle connection needs no check for being idle.
            let look_in = if slot.is_resting() {
                self.look_every()
            } else {
                self.keep_ready()
            };
            let sign = self.sign(look_in, &caller);
            let is_quiet = || caller.activity.is_quiet(Instant::now(), self.keep_ready());
            match turn(connection.as_mut(), sign).await {
                None | Some(Sign::Over) => return,
                Some(Sign::Draining) => {}
                // An evicted connection closes at the next check.
                Some(Sign::AskedToGo) if is_quiet() => idle = Duration::ZERO,
                Some(Sign::AskedToGo) => {
                    slot.work();
                    continue;
                }
                Some(Sign::Look) => match self.look(&caller, idle) {
                    Verdict::Fine => {
                        match (is_quiet(), slot.is_resting()) {
                            (true, false) => slot.rest(caller.activity.last()),
                            (false, true) => slot.work(),
                            (true, true) | (false, false) => {}
                        }
                        continue;
                    }
                    Verdict::Idle if caller.untold.is_some() => {}
                    Verdict::Idle | Verdict::Stalled => return,
                },
            }
            slot.work();
            caller.untold = None;
            connection.as_mut().graceful_shutdown();
        }
    }

    /// Service that answers the requests of a caller.
    fn service(
        &self,
        caller: &Caller<'_>,
    ) -> impl Service<
        Request<Incoming>,
        Response = Response,
        Error = Infallible,
        Future: Future<Output = Result<Response, Infallible>> + Send + 'static,
    > + Unpin
    + Send
    + 'static {
        let (edge, seen, peer) = (
            Arc::clone(&self.edge),
            Arc::clone(&caller.activity),
            caller.peer,
        );
        service_fn(move |request| {
            let (edge, seen) = (Arc::clone(&edge), Arc::clone(&seen));
            async move { Ok(edge.answer(peer, &seen, request).await) }
        })
    }

    /// Waits for the next event of a connection besides its requests.
    async fn sign(&self, look_in: Duration, caller: &Caller<'_>) -> Sign {
        let draining = async |opened: Instant| {
            self.drain.started().await;
            tokio::time::sleep_until((opened + FIRST_REQUEST).into()).await;
        };
        let untold = caller.untold;
        tokio::select! {
            () = draining(untold.unwrap_or_else(Instant::now)), if untold.is_some() => Sign::Draining,
            () = self.drain.now() => Sign::Over,
            () = caller.slot.asked_for() => Sign::AskedToGo,
            () = tokio::time::sleep(look_in) => Sign::Look,
        }
    }

    fn look(&self, caller: &Caller<'_>, idle: Duration) -> Verdict {
        let now = Instant::now();
        caller.activity.look(now, idle, self.guard.write_stall)
    }

    /// Check interval: a deadline is missed by a quarter at most.
    fn look_every(&self) -> Duration {
        self.idle.min(self.guard.write_stall) / 4
    }

    fn keep_ready(&self) -> Duration {
        KEEP_READY.min(self.look_every())
    }
}

/// Polls the connection until an event; `None` if the connection is closed.
async fn turn(connection: Pin<&mut impl Future>, sign: impl Future<Output = Sign>) -> Option<Sign> {
    let (mut connection, mut sign) = (connection, PollOnWake::new(sign));
    std::future::poll_fn(|cx| {
        // Errors here are the caller's: cut connections, broken frames.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut sign).poll(cx).map(Some)
    })
    .await
}
