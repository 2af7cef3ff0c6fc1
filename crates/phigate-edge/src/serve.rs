//! Serving until stopped: the listeners of callers, metrics and Presidio's interface.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use phigate_types::Limits;
use tokio::net::TcpListener;

use crate::connection_slots::ConnectionSlots;
use crate::drain::Drain;
use crate::early_limiter::EarlyLimiter;
use crate::edge::{Edge, ErrorFormatOf};
use crate::error::EdgeError;
use crate::observer::Observer;
use crate::process;
use crate::proxies::TrustedProxies;
use crate::server::{self, Server};
use crate::threads::Threads;
use crate::tls::{self, Certificate, TlsError, TlsFiles};

/// Limit of connections to the metrics listener.
const METRICS_CONNECTIONS: u64 = 32;

/// Addresses and limits of the listeners.
#[derive(Debug, Clone)]
pub struct EdgeSettings {
    /// Address for callers.
    pub listen: SocketAddr,
    /// Address for metrics, unless switched off.
    pub metrics_listen: Option<SocketAddr>,
    /// Address for Presidio's interface, if enabled.
    pub presidio_listen: Option<SocketAddr>,
    /// Proxies whose reports of a caller's address are trusted.
    pub trusted_proxies: TrustedProxies,
    /// Certificate of the gateway.
    pub tls: Option<TlsFiles>,
    /// All limits.
    pub limits: Limits,
}

/// Handlers behind the edge.
pub struct Site {
    /// Handlers for callers and browsers.
    pub router: Router,
    /// Page for a browser at an unknown address.
    pub missing_page: MissingPage,
    /// Error format per path.
    pub error_format: ErrorFormatOf,
    /// Handlers of the metrics listener.
    pub metrics: Router,
    /// Handlers of the Presidio listener.
    pub presidio: Router,
    /// Early limiter of rate-limited requests.
    pub early_limiter: Arc<dyn EarlyLimiter>,
    /// Receiver of connection and request events.
    pub observer: Arc<dyn Observer>,
}

/// Renders the page for an unknown address.
pub type MissingPage = Arc<dyn Fn(HeaderMap) -> BoxFuture<'static, Response> + Send + Sync>;

/// Reason why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, or not of this machine.
    #[error("cannot listen on {address} ({setting}): {reason}")]
    Listen {
        /// The setting that names the address.
        setting: &'static str,
        /// The address.
        address: SocketAddr,
        /// The system's error.
        reason: io::ErrorKind,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Bound listeners. They are bound first, so that a failed start changes nothing.
pub struct Ports {
    callers: TcpListener,
    metrics: Option<TcpListener>,
    presidio: Option<TcpListener>,
}

impl Ports {
    /// Binds the addresses that the settings name.
    pub async fn bind(settings: &EdgeSettings) -> Result<Self, ServeError> {
        let callers = listen("listen", settings.listen).await?;
        let metrics = listen_if("metrics_listen", settings.metrics_listen).await?;
        let presidio = listen_if("presidio_listen", settings.presidio_listen).await?;
        Ok(Self {
            callers,
            metrics,
            presidio,
        })
    }

    /// Address for callers.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.callers.local_addr()
    }

    /// Address of Presidio's interface, if it is served.
    pub fn presidio_address(&self) -> Option<SocketAddr> {
        let listener = self.presidio.as_ref();
        listener.and_then(|listener| listener.local_addr().ok())
    }
}

/// Serves until the drain is over, with callers on `threads`. `on_listening` gets the address when requests are
/// accepted.
pub async fn serve(
    ports: Ports,
    settings: &EdgeSettings,
    site: Site,
    threads: &Arc<Threads>,
    drain: Drain,
    on_listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    process::prepare();
    let limits = &settings.limits;
    let Ports {
        callers: listener,
        metrics,
        presidio,
    } = ports;
    let certificate = settings
        .tls
        .as_ref()
        .map(|files| Certificate::watch(files, tls::LOOK_AGAIN))
        .transpose()?;
    if let Some(listener) = metrics {
        let edge = Edge::new(
            site.metrics,
            limits,
            TrustedProxies::default(),
            Drain::default(),
            Arc::clone(&site.observer),
        );
        let slots = ConnectionSlots::new(limits.connections.min(METRICS_CONNECTIONS), 0);
        let server = Server::new(edge, limits, None, drain.clone(), slots, Arc::default());
        tokio::spawn(async move { server.accept(&listener).await });
    }
    let address = listener.local_addr().unwrap_or(settings.listen);
    let edge = Edge::new(
        finish(site.router, site.missing_page),
        limits,
        settings.trusted_proxies.clone(),
        drain.clone(),
        site.observer,
    )
    .with_error_format(site.error_format)
    .with_early_limiter(site.early_limiter);
    let connections = process::connections_max(limits.connections, limits.concurrency);
    let slots = ConnectionSlots::new(connections, usize::from(presidio.is_some()));
    let mut served = Vec::new();
    if let Some(listener) = presidio {
        let beside = edge.beside(site.presidio, |path| path != "/health");
        let (certificate, slots) = (certificate.clone(), Arc::clone(&slots));
        let threads = Arc::clone(threads);
        let server = Server::new(beside, limits, certificate, drain.clone(), slots, threads);
        served.push((server, listener));
    }
    let threads = Arc::clone(threads);
    let server = Server::new(edge, limits, certificate, drain.clone(), slots, threads);
    served.push((server, listener));
    on_listening(address);
    server::run(served, &drain, Duration::from_millis(limits.drain_ms)).await;
    Ok(())
}

/// Adds the handlers for unknown paths and wrong methods to a router.
pub(crate) fn finish(router: Router, missing_page: MissingPage) -> Router {
    let missing = async move |method: Method, uri: Uri, headers: HeaderMap| {
        let accepts = headers.get(header::ACCEPT).map(HeaderValue::as_bytes);
        let is_person = accepts.is_some_and(|types| types.starts_with(b"text/html"));
        if is_person && method == Method::GET && !uri.path().starts_with("/v1") {
            missing_page(headers).await
        } else {
            EdgeError::NotFound.into_response()
        }
    };
    router
        .fallback(missing)
        .method_not_allowed_fallback(|| async { EdgeError::MethodNotAllowed })
}

async fn listen_if(
    setting: &'static str,
    address: Option<SocketAddr>,
) -> Result<Option<TcpListener>, ServeError> {
    match address {
        Some(address) => listen(setting, address).await.map(Some),
        None => Ok(None),
    }
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
