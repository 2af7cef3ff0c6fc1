//! One listener: accepting, speaking HTTP, and stopping in order.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use phigate_types::Limits;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::activity::{Activity, Verdict};
use crate::drain::Drain;
use crate::edge::Edge;
use crate::guard::{Guard, GuardLimits};
use crate::head::HeadLimits;
use crate::observer::Counted;
use crate::process;
use crate::rarely::Rarely;
use crate::tls::Certificate;

/// Fields of a head that the library has room for without asking for memory.
const LIBRARY_FIELDS: usize = 100;
/// Time for the last bytes after the cut, so that error events still leave.
const LAST_BYTES: Duration = Duration::from_millis(500);
/// Time for the first request of a new connection: closed before that, its caller could not know what became of it.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// One listener with everything its connections need.
pub(crate) struct Server {
    edge: Arc<Edge>,
    certificate: Option<Certificate>,
    http: auto::Builder<Tracked>,
    guard: GuardLimits,
    idle: Duration,
    connections: Arc<Semaphore>,
    /// Connections from before the drain, and every request of HTTP/2: these are waited for.
    tracked: TaskTracker,
    /// Connections that came later. They are told that we stop, and get no more than the time for that.
    late: TaskTracker,
    drain: Drain,
}

/// What happens to a connection besides its requests.
enum Sign {
    /// No new work.
    Draining,
    /// Nobody waits any longer.
    Over,
    /// Time to look whether anything is asked, and whether what we answer is taken.
    Look,
}

/// Accepts on all listeners until the drain starts, then gives the running requests of all of them their time.
pub(crate) async fn run(served: Vec<(Arc<Server>, TcpListener)>, drain: &Drain, grace: Duration) {
    let servers: Vec<Arc<Server>> = served
        .iter()
        .map(|(server, _)| Arc::clone(server))
        .collect();
    let accept = || {
        join_all(
            served
                .iter()
                .map(|(server, listener)| server.accept(listener)),
        )
    };
    let finished = || join_all(servers.iter().map(|server| server.tracked.wait()));
    tokio::select! {
        _ = accept() => {}
        () = drain.started() => {}
    }
    for server in &servers {
        server.tracked.close();
        server.late.close();
    }
    tokio::select! {
        // Callers who come now are told so; others would see a refused connection.
        _ = accept() => {}
        _ = finished() => {}
        () = drain.now() => {}
        () = tokio::time::sleep(grace) => {}
    }
    // From here on connections are refused, so that their callers know at once to go elsewhere.
    for (server, listener) in served {
        server.accept_last(listener);
    }
    drain.start_cut();
    let told = join_all(servers.iter().map(|server| server.late.wait()));
    tokio::select! {
        _ = join(finished(), told) => {}
        () = drain.now() => {}
        () = tokio::time::sleep(LAST_BYTES) => {}
    }
    drain.stop_now();
    // What is broken off now still hands over its records; the store is closed after this.
    let _ = tokio::time::timeout(LAST_BYTES, finished()).await;
}

impl Server {
    pub(crate) fn new(
        edge: Edge,
        limits: &Limits,
        certificate: Option<Certificate>,
        drain: Drain,
    ) -> Arc<Self> {
        let count = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let guard = GuardLimits {
            head: HeadLimits {
                bytes: count(limits.header_bytes),
                fields: count(limits.header_fields),
                uri_bytes: count(limits.uri_bytes),
            },
            header_read: Duration::from_millis(limits.header_read_ms),
            write_stall: Duration::from_millis(limits.write_stall_ms),
        };
        let tracked = TaskTracker::new();
        Arc::new(Self {
            edge: Arc::new(edge),
            certificate,
            http: http_builder(limits, Tracked(tracked.clone())),
            guard,
            idle: Duration::from_millis(limits.idle_ms),
            connections: Arc::new(Semaphore::new(
                count(process::connections_max(limits.connections)).min(Semaphore::MAX_PERMITS),
            )),
            tracked,
            late: TaskTracker::new(),
            drain,
        })
    }

    pub(crate) async fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let Ok(place) = Arc::clone(&self.connections).acquire_owned().await else {
                return;
            };
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: waiting frees some.
                    tracing::warn!("cannot accept a connection: {}", error.kind());
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let server = Arc::clone(self);
            let connection = async move {
                server.connection(stream, peer).await;
                drop(place);
            };
            if self.drain.is_draining() {
                self.late.spawn(connection);
            } else {
                self.tracked.spawn(connection);
            }
        }
    }

    /// Takes the connections that wait already, and closes the listener: closed with somebody waiting, it would cut
    /// them off without a word.
    fn accept_last(self: &Arc<Self>, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else {
            return;
        };
        while let Ok((stream, peer)) = listener.accept() {
            let stream = stream
                .set_nonblocking(true)
                .and_then(|()| TcpStream::from_std(stream));
            if let Ok(stream) = stream {
                let server = Arc::clone(self);
                self.late
                    .spawn(async move { server.connection(stream, peer).await });
            }
        }
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr) {
        let _open = Counted::connection(&self.edge.observer);
        // Small events of a stream must not wait for each other.
        let _ = stream.set_nodelay(true);
        match &self.certificate {
            None => self.speak_http(stream, peer).await,
            Some(certificate) => {
                let handshake = certificate.acceptor().accept(stream);
                if let Ok(Ok(stream)) =
                    tokio::time::timeout(self.guard.header_read, handshake).await
                {
                    self.speak_http(stream, peer).await;
                }
            }
        }
    }

    async fn speak_http<I>(&self, stream: I, peer: SocketAddr)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let opened = Instant::now();
        let activity = Activity::new(opened);
        let (edge, seen) = (Arc::clone(&self.edge), Arc::clone(&activity));
        let service = service_fn(move |request| {
            let (edge, seen) = (Arc::clone(&edge), Arc::clone(&seen));
            async move { Ok::<_, Infallible>(edge.answer(peer, &seen, request).await) }
        });
        let io = TokioIo::new(Guard::new(stream, self.guard));
        let mut connection = pin!(self.http.serve_connection(io, service));
        let mut looks = tokio::time::interval(self.look_every());
        // A connection that is opened while draining gets one answer: that we are.
        let mut told = self.drain.is_draining();
        loop {
            let mut sign = Rarely::new(self.sign(&mut looks, (!told).then_some(opened)));
            let turn = std::future::poll_fn(|cx| {
                // Errors here are the caller's: cut connections, broken frames.
                if connection.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                Pin::new(&mut sign).poll(cx).map(Some)
            });
            match turn.await {
                None | Some(Sign::Over) => return,
                Some(Sign::Draining) => {}
                Some(Sign::Look) => {
                    match activity.look(Instant::now(), self.idle, self.guard.write_stall) {
                        Verdict::Fine => continue,
                        Verdict::Idle if !told => {}
                        Verdict::Idle | Verdict::Stalled => return,
                    }
                }
            }
            told = true;
            drop(sign);
            connection.as_mut().graceful_shutdown();
        }
    }

    /// Waits for the next thing that happens to a connection besides its requests. One that is still to be told of
    /// the drain says when it was opened.
    async fn sign(&self, looks: &mut tokio::time::Interval, untold: Option<Instant>) -> Sign {
        let draining = async |opened: Instant| {
            self.drain.started().await;
            tokio::time::sleep_until((opened + FIRST_REQUEST).into()).await;
        };
        tokio::select! {
            () = draining(untold.unwrap_or_else(Instant::now)), if untold.is_some() => Sign::Draining,
            () = self.drain.now() => Sign::Over,
            _ = looks.tick() => Sign::Look,
        }
    }

    /// Often enough that a deadline is missed by a quarter at most.
    fn look_every(&self) -> Duration {
        self.idle.min(self.guard.write_stall) / 4
    }
}

/// Runs the requests of HTTP/2, which the library makes tasks of their own: they outlive their connection by what
/// they still have to record.
#[derive(Clone)]
struct Tracked(TaskTracker);

impl<F> hyper::rt::Executor<F> for Tracked
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, request: F) {
        self.0.spawn(request);
    }
}

fn http_builder(limits: &Limits, executor: Tracked) -> auto::Builder<Tracked> {
    let idle = Duration::from_millis(limits.idle_ms);
    let header_bytes = u32::try_from(limits.header_bytes).unwrap_or(u32::MAX);
    let mut http = auto::Builder::new(executor);
    http.http1()
        .timer(TokioTimer::new())
        // A caller may say that nothing more comes and still wait for the answer.
        .half_close(true)
        // The guard hands over whole heads only, so this is the time between two requests.
        .header_read_timeout(idle)
        .max_buf_size(
            usize::try_from(limits.header_bytes)
                .unwrap_or(usize::MAX)
                .max(64 * 1024),
        );
    // The guard counts first, so that its answer is given.
    let fields = usize::try_from(limits.header_fields).unwrap_or(usize::MAX);
    if fields > LIBRARY_FIELDS {
        http.http1().max_headers(fields);
    }
    http.http2()
        .timer(TokioTimer::new())
        .max_header_list_size(header_bytes)
        .max_concurrent_streams(100)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20));
    http
}

#[cfg(test)]
pub(crate) mod tests;
