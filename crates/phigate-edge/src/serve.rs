//! Serving until stopped: the listener of callers, and the one of whoever measures.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use phigate_types::Limits;
use tokio::net::TcpListener;

use crate::drain::Drain;
use crate::edge::{Edge, ErrorFormatOf};
use crate::error::EdgeError;
use crate::observer::Observer;
use crate::process;
use crate::proxies::TrustedProxies;
use crate::server::Server;
use crate::tls::{self, Certificate, TlsError, TlsFiles};

/// Where and how connections are accepted.
#[derive(Debug, Clone)]
pub struct EdgeSettings {
    /// Where callers connect.
    pub listen: SocketAddr,
    /// Where metrics are read, unless switched off.
    pub metrics_listen: Option<SocketAddr>,
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
    /// Who counts connections and requests.
    pub observer: Arc<dyn Observer>,
}

/// Makes the page for an address where there is nothing.
pub type MissingPage = Arc<dyn Fn() -> Response + Send + Sync>;

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
}

impl Ports {
    /// Binds the addresses that the settings name.
    pub async fn bind(settings: &EdgeSettings) -> Result<Self, ServeError> {
        let callers = listen("listen", settings.listen).await?;
        let metrics = match settings.metrics_listen {
            Some(address) => Some(listen("metrics_listen", address).await?),
            None => None,
        };
        Ok(Self { callers, metrics })
    }

    /// Where callers connect.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.callers.local_addr()
    }
}

/// Serves until the drain is over. `on_listening` is told the address once requests are accepted.
pub async fn serve(
    ports: Ports,
    settings: &EdgeSettings,
    site: Site,
    drain: Drain,
    on_listening: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    process::prepare();
    let limits = &settings.limits;
    let listener = ports.callers;
    let certificate = settings
        .tls
        .as_ref()
        .map(|files| Certificate::watch(files, tls::LOOK_AGAIN))
        .transpose()?;
    if let Some(listener) = ports.metrics {
        let edge = Edge::new(
            site.metrics,
            limits,
            TrustedProxies::default(),
            Drain::default(),
            Arc::clone(&site.observer),
        );
        let server = Server::new(edge, limits, None, drain.clone());
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
    .with_error_format(site.error_format);
    let server = Server::new(edge, limits, certificate, drain.clone());
    on_listening(address);
    server
        .run(&listener, Duration::from_millis(limits.drain_ms))
        .await;
    Ok(())
}

/// Gives a router our answers to unknown paths and wrong methods.
pub(crate) fn finish(router: Router, missing_page: MissingPage) -> Router {
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
