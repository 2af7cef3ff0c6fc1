//! One listener: accepting connections, serving HTTP, and the graceful stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::TokioTimer;
use phigate_types::Limits;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

use crate::connection_slots::{ConnectionSlot, ConnectionSlots};
use crate::drain::Drain;
use crate::edge::Edge;
use crate::guard::GuardLimits;
use crate::head::HeadLimits;
use crate::observer::Counted;
use crate::threads::Threads;
use crate::tls::Certificate;

/// Fields of a head for which the library allocates no memory.
const LIBRARY_FIELDS: usize = 100;
/// Time for the last bytes after the cut, so that error events are flushed.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// One listener with the state that its connections need.
pub(crate) struct Server {
    pub(crate) edge: Arc<Edge>,
    certificate: Option<Certificate>,
    pub(crate) http1: http1::Builder,
    pub(crate) http2: http2::Builder<Tracked>,
    pub(crate) guard: GuardLimits,
    pub(crate) idle: Duration,
    slots: Arc<ConnectionSlots>,
    threads: Arc<Threads>,
    /// Connections from before the drain, and every HTTP/2 request: the drain waits for them.
    tracked: TaskTracker,
    /// Connections opened during the drain. They get 503 and only the time for that.
    late: TaskTracker,
    pub(crate) drain: Drain,
}

/// Accepts on all listeners until the drain starts, then gives all running requests their grace period.
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
        // New connections get 503 while draining; otherwise they would see a refused connection.
        _ = accept() => {}
        _ = finished() => {}
        () = drain.now() => {}
        () = tokio::time::sleep(grace) => {}
    }
    // From here on connections are refused, so that callers switch to another server at once.
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
    // Requests cut off here still hand over their records; the store is closed after this.
    let _ = tokio::time::timeout(LAST_BYTES, finished()).await;
}

impl Server {
    pub(crate) fn new(
        edge: Edge,
        limits: &Limits,
        certificate: Option<Certificate>,
        drain: Drain,
        slots: Arc<ConnectionSlots>,
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
            slots,
            threads,
            tracked,
            late: TaskTracker::new(),
            drain,
        })
    }

    pub(crate) async fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let Some(slot) = self.slots.take().await else {
                return;
            };
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Most likely out of file descriptors; waiting frees some.
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
            let connection = async move |stream| server.connection(stream, peer, slot).await;
            self.threads.serve(tracker, stream, connection);
        }
    }

    /// Accepts the pending connections and closes the listener. Otherwise closing it would reset them.
    fn accept_last(self: &Arc<Self>, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else {
            return;
        };
        while let Ok((stream, peer)) = listener.accept() {
            let stream = stream
                .set_nonblocking(true)
                .and_then(|()| TcpStream::from_std(stream));
            if let Ok(stream) = stream {
                let (server, slot) = (Arc::clone(self), self.slots.extra());
                self.late
                    .spawn(async move { server.connection(stream, peer, slot).await });
            }
        }
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr, slot: ConnectionSlot) {
        let _open = Counted::connection(&self.edge.observer);
        // Small events of a stream must not wait for each other.
        let _ = stream.set_nodelay(true);
        match &self.certificate {
            None => self.speak_http(stream, peer, &slot).await,
            Some(certificate) => {
                // Boxed: a TLS connection is much larger, and inline it would enlarge plain ones.
                Box::pin(self.speak_tls(certificate, stream, peer, &slot)).await;
            }
        }
    }

    async fn speak_tls(
        &self,
        certificate: &Certificate,
        stream: TcpStream,
        peer: SocketAddr,
        slot: &ConnectionSlot,
    ) {
        slot.rest(Instant::now());
        let handshake = certificate.acceptor().accept(stream);
        let handshake = tokio::time::timeout(self.guard.header_read, handshake);
        let shaken = tokio::select! {
            shaken = handshake => shaken,
            () = slot.asked_for() => return,
        };
        if let Ok(Ok(stream)) = shaken {
            self.speak_http(stream, peer, slot).await;
        }
    }
}

/// Executor of HTTP/2 requests, which outlive their connection while they write their records.
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
    // A caller may close its side and still wait for the answer.
    http.half_close(true)
        // The guard hands over complete heads only, and idle connections are checked elsewhere.
        .header_read_timeout(None)
        .max_buf_size(count(limits.header_bytes).max(64 * 1024));
    // The guard counts first, so that its refusal is the one sent.
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
