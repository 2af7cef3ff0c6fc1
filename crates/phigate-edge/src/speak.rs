//! One connection: it waits with next to nothing in hand, and speaks HTTP while something is asked.
//!
//! What the library needs to speak HTTP/1 is mostly buffers. A connection that has rested for a moment gives them up
//! and waits with its guard alone, which makes thousands of idle ones cheap. One that asks again at once keeps them.

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
use crate::guard::{Guard, Speaks, Turn};
use crate::places::Place;
use crate::rarely::Rarely;
use crate::server::Server;

/// Time for the first request of a new connection: closed before that, its caller could not know what became of it.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// How long a connection without a request keeps what it needs for one.
const KEEP_READY: Duration = Duration::from_millis(500);

/// What happens to a connection besides its requests.
enum Sign {
    /// No new work.
    Draining,
    /// Nobody waits any longer.
    Over,
    /// Somebody else needs the place.
    AskedToGo,
    /// Time to look whether anything is asked, and whether what we answer is taken.
    Look,
}

/// What comes of a turn at speaking HTTP/1.
#[derive(PartialEq, Eq)]
enum Spoken {
    /// The connection is over.
    Over,
    /// It rests, and the caller may ask again.
    Rests,
}

/// A caller, and what we know of its connection.
pub(crate) struct Caller<'a> {
    pub(crate) peer: SocketAddr,
    pub(crate) place: &'a Place,
    activity: Arc<Activity>,
    /// When the connection was opened, while it is still to be told that we stop.
    untold: Option<Instant>,
}

impl<'a> Caller<'a> {
    fn new(peer: SocketAddr, place: &'a Place, is_draining: bool) -> Self {
        let opened = Instant::now();
        Self {
            peer,
            place,
            activity: Activity::new(opened),
            // A connection that is opened while draining gets one answer: that we are.
            untold: (!is_draining).then_some(opened),
        }
    }
}

impl Server {
    /// Serves a connection until it is over.
    pub(crate) async fn speak_http<I>(&self, stream: I, peer: SocketAddr, place: &Place)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut caller = Caller::new(peer, place, self.drain.is_draining());
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

    /// Waits for a request; nothing when there is to be none.
    async fn wait<I>(&self, guard: &mut Guard<I>, caller: &Caller<'_>) -> Option<Speaks>
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        guard.shrink();
        // Whoever turns requests away does not see to the caller's place.
        guard.set_turn(None);
        caller.place.rest(caller.activity.last());
        let mut is_half_sent = false;
        loop {
            let mut sign = Rarely::new(self.sign(self.look_every(), caller));
            let turn = std::future::poll_fn(|cx| {
                if let Poll::Ready(request) = guard.poll_request(cx) {
                    return Poll::Ready(Ok(request));
                }
                if guard.is_half_sent() && !is_half_sent {
                    is_half_sent = true;
                    caller.place.rest(Instant::now());
                }
                Pin::new(&mut sign).poll(cx).map(Err)
            });
            match turn.await {
                Ok(request) => {
                    caller.place.work();
                    return request;
                }
                Err(Sign::Draining | Sign::Over | Sign::AskedToGo) => return None,
                Err(Sign::Look) => {
                    // A head that has begun has a deadline of its own.
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
        guard.set_turn(self.edge.turnstile.as_ref().map(|turnstile| Turn {
            turnstile: Arc::clone(turnstile),
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
                        // Bytes that the library took and did not read are nothing that a new one may begin with.
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
        let (mut idle, place) = (self.idle, caller.place);
        loop {
            // While it rests, no look is needed to see that it does.
            let look_in = if place.is_resting() {
                self.look_every()
            } else {
                self.keep_ready()
            };
            let sign = self.sign(look_in, &caller);
            let is_quiet = || caller.activity.is_quiet(Instant::now(), self.keep_ready());
            match turn(connection.as_mut(), sign).await {
                None | Some(Sign::Over) => return,
                Some(Sign::Draining) => {}
                // Told to go, it has until the next look.
                Some(Sign::AskedToGo) if is_quiet() => idle = Duration::ZERO,
                Some(Sign::AskedToGo) => {
                    place.work();
                    continue;
                }
                Some(Sign::Look) => match self.look(&caller, idle) {
                    Verdict::Fine => {
                        match (is_quiet(), place.is_resting()) {
                            (true, false) => place.rest(caller.activity.last()),
                            (false, true) => place.work(),
                            (true, true) | (false, false) => {}
                        }
                        continue;
                    }
                    Verdict::Idle if caller.untold.is_some() => {}
                    Verdict::Idle | Verdict::Stalled => return,
                },
            }
            place.work();
            caller.untold = None;
            connection.as_mut().graceful_shutdown();
        }
    }

    /// Answers the requests of a caller.
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

    /// Waits for the next thing that happens to a connection besides its requests.
    async fn sign(&self, look_in: Duration, caller: &Caller<'_>) -> Sign {
        let draining = async |opened: Instant| {
            self.drain.started().await;
            tokio::time::sleep_until((opened + FIRST_REQUEST).into()).await;
        };
        let untold = caller.untold;
        tokio::select! {
            () = draining(untold.unwrap_or_else(Instant::now)), if untold.is_some() => Sign::Draining,
            () = self.drain.now() => Sign::Over,
            () = caller.place.asked_for() => Sign::AskedToGo,
            () = tokio::time::sleep(look_in) => Sign::Look,
        }
    }

    fn look(&self, caller: &Caller<'_>, idle: Duration) -> Verdict {
        let now = Instant::now();
        caller.activity.look(now, idle, self.guard.write_stall)
    }

    /// Often enough that a deadline is missed by a quarter at most.
    fn look_every(&self) -> Duration {
        self.idle.min(self.guard.write_stall) / 4
    }

    fn keep_ready(&self) -> Duration {
        KEEP_READY.min(self.look_every())
    }
}

/// Speaks until something else happens; nothing when the connection is over.
async fn turn(connection: Pin<&mut impl Future>, sign: impl Future<Output = Sign>) -> Option<Sign> {
    let (mut connection, mut sign) = (connection, Rarely::new(sign));
    std::future::poll_fn(|cx| {
        // Errors here are the caller's: cut connections, broken frames.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut sign).poll(cx).map(Some)
    })
    .await
}
