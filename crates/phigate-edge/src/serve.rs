//! Serving until stopped: the listener of callers, and the one of whoever measures.

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

use crate::drain::Drain;
use crate::edge::{Edge, ErrorFormatOf};
use crate::error::EdgeError;
use crate::observer::Observer;
use crate::places::Places;
use crate::process;
use crate::proxies::TrustedProxies;
use crate::server::{self, Server};
use crate::threads::Threads;
use crate::tls::{self, Certificate, TlsError, TlsFiles};
use crate::turnstile::Turnstile;

/// Connections of whoever measures, which are few.
const METRICS_CONNECTIONS: u64 = 32;

/// Where and how connections are accepted.
#[derive(Debug, Clone)]
pub struct EdgeSettings {
    /// Where callers connect.
    pub listen: SocketAddr,
    /// Where metrics are read, unless switched off.
    pub metrics_listen: Option<SocketAddr>,
    /// Where Presidio's interface is served, if anywhere.
    pub presidio_listen: Option<SocketAddr>,
    /// Proxies whose word about a caller's address is believed.
    pub trusted_proxies: TrustedProxies,
    /// Our own certificate.
    pub tls: Option<TlsFiles>,
    /// The bounds on everything.
    pub limits: Limits,
}

/// What is behind the edge.
pub struct Site {
    /// Everything callers and people can ask for.
    pub router: Router,
    /// What a person sees at an address where there is nothing.
    pub missing_page: MissingPage,
    /// How errors are written at a path.
    pub error_format: ErrorFormatOf,
    /// The listener for metrics serves this.
    pub metrics: Router,
    /// The listener for Presidio's interface serves this.
    pub presidio: Router,
    /// Who turns requests away that are beyond a limit.
    pub turnstile: Arc<dyn Turnstile>,
    /// Who counts connections and requests.
    pub observer: Arc<dyn Observer>,
}

/// Makes the page for an address where there is nothing.
pub type MissingPage = Arc<dyn Fn(HeaderMap) -> BoxFuture<'static, Response> + Send + Sync>;

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address} ({setting}): {reason}")]
    Listen {
        /// The setting that names the address.
        setting: &'static str,
        /// The address.
        address: SocketAddr,
        /// What the system said.
        reason: io::ErrorKind,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// The listeners. They are bound before anything else is done, so that a start that cannot work changes nothing.
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

    /// Where callers connect.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.callers.local_addr()
    }

    /// Where Presidio's interface is, if it is served.
    pub fn presidio_address(&self) -> Option<SocketAddr> {
        let listener = self.presidio.as_ref();
        listener.and_then(|listener| listener.local_addr().ok())
    }
}

/// Serves until the drain is over, callers on these threads. `on_listening` is told the address once requests are accepted.
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
        let places = Places::new(limits.connections.min(METRICS_CONNECTIONS), 0);
        let server = Server::new(edge, limits, None, drain.clone(), places, Arc::default());
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
    .with_turnstile(site.turnstile);
    let connections = process::connections_max(limits.connections, limits.concurrency);
    let places = Places::new(connections, usize::from(presidio.is_some()));
    let mut served = Vec::new();
    if let Some(listener) = presidio {
        let beside = edge.beside(site.presidio, |path| path != "/health");
        let (certificate, places) = (certificate.clone(), Arc::clone(&places));
        let threads = Arc::clone(threads);
        let server = Server::new(beside, limits, certificate, drain.clone(), places, threads);
        served.push((server, listener));
    }
    let threads = Arc::clone(threads);
    let server = Server::new(edge, limits, certificate, drain.clone(), places, threads);
    served.push((server, listener));
    on_listening(address);
    server::run(served, &drain, Duration::from_millis(limits.drain_ms)).await;
    Ok(())
}

/// Gives a router our answers to unknown paths and wrong methods.
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
