//! One listener: accepting, speaking HTTP, and stopping in order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::TokioTimer;
use phigate_types::Limits;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

use crate::drain::Drain;
use crate::edge::Edge;
use crate::guard::GuardLimits;
use crate::head::HeadLimits;
use crate::observer::Counted;
use crate::places::{Place, Places};
use crate::threads::Threads;
use crate::tls::Certificate;

/// Fields of a head that the library has room for without asking for memory.
const LIBRARY_FIELDS: usize = 100;
/// Time for the last bytes after the cut, so that error events still leave.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// One listener with everything its connections need.
pub(crate) struct Server {
    pub(crate) edge: Arc<Edge>,
    certificate: Option<Certificate>,
    pub(crate) http1: http1::Builder,
    pub(crate) http2: http2::Builder<Tracked>,
    pub(crate) guard: GuardLimits,
    pub(crate) idle: Duration,
    places: Arc<Places>,
    threads: Arc<Threads>,
    /// Connections from before the drain, and every request of HTTP/2: these are waited for.
    tracked: TaskTracker,
    /// Connections that came later. They are told that we stop, and get no more than the time for that.
    late: TaskTracker,
    pub(crate) drain: Drain,
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
        places: Arc<Places>,
        threads: Arc<Threads>,
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
            http1: http1_builder(limits),
            http2: http2_builder(limits, Tracked(tracked.clone(), Arc::clone(&threads))),
            guard,
            idle: Duration::from_millis(limits.idle_ms),
            places,
            threads,
            tracked,
            late: TaskTracker::new(),
            drain,
        })
    }

    pub(crate) async fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let Some(place) = self.places.take().await else {
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
            let tracker = if self.drain.is_draining() {
                &self.late
            } else {
                &self.tracked
            };
            let server = Arc::clone(self);
            let connection = async move |stream| server.connection(stream, peer, place).await;
            self.threads.serve(tracker, stream, connection);
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
                let (server, place) = (Arc::clone(self), self.places.extra());
                self.late
                    .spawn(async move { server.connection(stream, peer, place).await });
            }
        }
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr, place: Place) {
        let _open = Counted::connection(&self.edge.observer);
        // Small events of a stream must not wait for each other.
        let _ = stream.set_nodelay(true);
        match &self.certificate {
            None => self.speak_http(stream, peer, &place).await,
            Some(certificate) => {
                // Much larger than a plain one, which would be as large if it were the same future.
                Box::pin(self.speak_tls(certificate, stream, peer, &place)).await;
            }
        }
    }

    async fn speak_tls(
        &self,
        certificate: &Certificate,
        stream: TcpStream,
        peer: SocketAddr,
        place: &Place,
    ) {
        place.rest(Instant::now());
        let handshake = certificate.acceptor().accept(stream);
        let handshake = tokio::time::timeout(self.guard.header_read, handshake);
        let shaken = tokio::select! {
            shaken = handshake => shaken,
            () = place.asked_for() => return,
        };
        if let Ok(Ok(stream)) = shaken {
            self.speak_http(stream, peer, place).await;
        }
    }
}

/// Runs the requests of HTTP/2, which the library makes tasks of their own: they outlive their connection by what
/// they still have to record.
#[derive(Clone)]
pub(crate) struct Tracked(TaskTracker, Arc<Threads>);

impl<F> hyper::rt::Executor<F> for Tracked
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, request: F) {
        self.1.spawn(&self.0, request);
    }
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let count = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let mut http = http1::Builder::new();
    // A caller may say that nothing more comes and still wait for the answer.
    http.half_close(true)
        // The guard hands over whole heads only, and idle connections are seen to elsewhere.
        .header_read_timeout(None)
        .max_buf_size(count(limits.header_bytes).max(64 * 1024));
    // The guard counts first, so that its answer is given.
    let fields = count(limits.header_fields);
    if fields > LIBRARY_FIELDS {
        http.max_headers(fields);
    }
    http
}

fn http2_builder(limits: &Limits, executor: Tracked) -> http2::Builder<Tracked> {
    let header_bytes = u32::try_from(limits.header_bytes).unwrap_or(u32::MAX);
    let mut http = http2::Builder::new(executor);
    http.timer(TokioTimer::new())
        .max_header_list_size(header_bytes)
        .max_concurrent_streams(100)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20));
    http
}

#[cfg(test)]
pub(crate) mod tests;
