//! The edge: accepting connections, refusing what is ambiguous, limits, draining.
//!
//! A connection passes `guard` (raw bytes), the HTTP library, `edge` (around every request) and
//! then the router. Handlers read bodies through [`Upload`].

mod activity;
mod carried;
mod chunked;
mod client;
mod drain;
mod edge;
mod envelope;
mod error;
mod guard;
mod head;
mod health;
mod leftover;
mod limits;
mod panic;
mod process;
mod queue;
mod tls;
mod upload;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

pub(crate) use client::ClientAddress;
pub(crate) use drain::Drain;
pub(crate) use edge::{REQUEST_ID, RequestId};
pub(crate) use envelope::ErrorBody;
pub(crate) use error::EdgeError;
pub(crate) use health::{OPENAPI, routes as health_routes};
pub(crate) use limits::{BadKeys, KeyLimits, KeyPermit, Limited};
pub(crate) use panic::quiet_panics;
pub(crate) use queue::Turn;
pub(crate) use upload::{InflightPermit, Upload};

use crate::config::{Config, Limits, TrustedProxies};
use crate::metrics::Metrics;
use activity::{Activity, Verdict};
use edge::Edge;
use guard::{Guard, GuardLimits};
use head::HeadLimits;
use tls::Certificate;

/// Fields of a head that the library has room for without asking for memory.
const LIBRARY_FIELDS: usize = 100;
/// Time for the last bytes after the cut, so that error events still leave.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("cannot listen on {address} ({setting}): {reason}")]
    Listen {
        setting: &'static str,
        address: SocketAddr,
        reason: io::ErrorKind,
    },
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
}

/// The listeners. They are bound before anything else is done, so that a start that cannot work changes nothing.
pub(crate) struct Ports {
    callers: TcpListener,
    metrics: Option<TcpListener>,
}

impl Ports {
    /// Binds the addresses that the settings name.
    pub(crate) async fn bind(config: &Config) -> Result<Self, ServeError> {
        let callers = listen("listen", config.listen).await?;
        let metrics = match config.metrics_listen {
            Some(address) => Some(listen("metrics_listen", address).await?),
            None => None,
        };
        Ok(Self { callers, metrics })
    }

    /// Where callers connect.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.callers.local_addr()
    }
}

/// Serves until the drain is over. `on_listening` is told the address once requests are accepted.
pub(crate) async fn serve(
    ports: Ports,
    config: &Config,
    router: Router,
    missing_page: MissingPage,
    metrics: Arc<Metrics>,
    drain: Drain,
    on_listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    process::prepare();
    let listener = ports.callers;
    let certificate = config
        .tls
        .as_ref()
        .map(|files| Certificate::watch(files, tls::LOOK_AGAIN))
        .transpose()?;
    if let Some(listener) = ports.metrics {
        let edge = Edge::new(
            metrics.router(),
            &config.limits,
            TrustedProxies::default(),
            Drain::default(),
            Arc::clone(&metrics),
        );
        let server = Server::new(edge, &config.limits, None, drain.clone());
        tokio::spawn(async move { server.accept(&listener).await });
    }
    let address = listener.local_addr().unwrap_or(config.listen);
    let edge = Edge::new(
        finish(router, missing_page),
        &config.limits,
        config.trusted_proxies.clone(),
        drain.clone(),
        metrics,
    );
    let server = Server::new(edge, &config.limits, certificate, drain.clone());
    on_listening(address);
    server
        .run(&listener, Duration::from_millis(config.limits.drain_ms))
        .await;
    Ok(())
}

/// What a person sees at an address where there is nothing.
pub(crate) type MissingPage = Arc<dyn Fn() -> Response + Send + Sync>;

/// Gives a router our answers to unknown paths and wrong methods.
fn finish(router: Router, missing_page: MissingPage) -> Router {
    let missing = async move |method: Method, uri: Uri, headers: HeaderMap| {
        let accepts = headers.get(header::ACCEPT).map(HeaderValue::as_bytes);
        let is_person = accepts.is_some_and(|types| types.starts_with(b"text/html"));
        if is_person && method == Method::GET && !uri.path().starts_with("/v1") {
            missing_page()
        } else {
            EdgeError::NotFound.into_response()
        }
    };
    router
        .fallback(missing)
        .method_not_allowed_fallback(|| async { EdgeError::MethodNotAllowed })
}

async fn listen(setting: &'static str, address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address)
        .await
        .map_err(|error| ServeError::Listen {
            setting,
            address,
            reason: error.kind(),
        })
}

/// One listener with everything its connections need.
struct Server {
    edge: Arc<Edge>,
    certificate: Option<Certificate>,
    http: auto::Builder<Tracked>,
    guard: GuardLimits,
    idle: Duration,
    connections: Arc<Semaphore>,
    /// Connections from before the drain, and every request of HTTP/2: these are waited for.
    tracked: TaskTracker,
    drain: Drain,
}

impl Server {
    fn new(
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
            drain,
        })
    }

    /// Accepts until the drain starts, then gives the running requests their time.
    async fn run(self: &Arc<Self>, listener: &TcpListener, grace: Duration) {
        tokio::select! {
            () = self.accept(listener) => {}
            () = self.drain.started() => {}
        }
        self.tracked.close();
        tokio::select! {
            // Callers who come now are told so; others would see a refused connection.
            () = self.accept(listener) => {}
            () = self.tracked.wait() => {}
            () = self.drain.now() => {}
            () = tokio::time::sleep(grace) => {}
        }
        self.drain.start_cut();
        tokio::select! {
            () = self.tracked.wait() => {}
            () = self.drain.now() => {}
            () = tokio::time::sleep(LAST_BYTES) => {}
        }
        self.drain.stop_now();
        // What is broken off now still hands over its records; the store is closed after this.
        let _ = tokio::time::timeout(LAST_BYTES, self.tracked.wait()).await;
    }

    async fn accept(self: &Arc<Self>, listener: &TcpListener) {
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
                tokio::spawn(connection);
            } else {
                self.tracked.spawn(connection);
            }
        }
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr) {
        let _open = self.edge.metrics.connection_opened();
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
        let activity = Activity::new(Instant::now());
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
            tokio::select! {
                // Errors here are the caller's: cut connections, broken frames.
                _ = connection.as_mut() => return,
                () = self.drain.started(), if !told => {
                    told = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.drain.now() => return,
                _ = looks.tick() => match activity.look(Instant::now(), self.idle, self.guard.write_stall) {
                    Verdict::Fine => {}
                    Verdict::Idle if !told => {
                        told = true;
                        connection.as_mut().graceful_shutdown();
                    }
                    Verdict::Idle | Verdict::Stalled => return,
                }
            }
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
mod tests;
