//! Connections to a provider: the resolved address is checked, and the same address is connected to.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio::net::TcpStream;
use tower::Service;

use super::{ProviderError, address};

/// Delay before the next address is tried in parallel.
const HEAD_START: Duration = Duration::from_millis(250);

/// A connection attempt.
type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, ConnectError>> + Send>>;

/// The reason for a failed connection, without address and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("cannot resolve the provider's name")]
    Resolve,
    #[error("the provider's address is not allowed")]
    Forbidden,
    #[error("cannot connect to the provider")]
    Refused,
    #[error("cannot agree on TLS with the provider")]
    Tls,
    #[error("connecting to the provider took too long")]
    Timeout,
}

/// The provider error for a failed connection.
pub(crate) fn no_connection(reason: ConnectError) -> ProviderError {
    match reason {
        ConnectError::Forbidden => ProviderError::Forbidden,
        reason => {
            tracing::warn!("no connection to a provider: {reason}");
            ProviderError::Unreachable
        }
    }
}

/// The addresses that may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The public internet.
    Public,
    /// Private addresses too.
    Anywhere,
    /// Private addresses only, without TLS: services of the machine.
    Machine,
}

impl Reach {
    /// The reach of calls to providers.
    pub(crate) fn of_providers(allow_private: bool) -> Self {
        if allow_private {
            Self::Anywhere
        } else {
            Self::Public
        }
    }

    fn allows(self, ip: IpAddr, is_https: bool) -> bool {
        let is_within = match self {
            Self::Public => address::is_public(ip),
            Self::Anywhere => true,
            Self::Machine => is_https || !address::is_public(ip),
        };
        is_within && address::is_a_host(ip)
    }
}

/// Resolves, checks and connects, without TLS.
#[derive(Clone)]
pub(crate) struct Dial {
    reach: Reach,
}

/// [`Dial`] with TLS if the URL requires it, and a deadline.
#[derive(Clone)]
pub(crate) struct Connector {
    https: HttpsConnector<Dial>,
    limit: Duration,
}

/// The reason why the trusted certificates cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RootsError {
    /// Cannot read certificates from provider_ca_file.
    #[error("cannot read certificates from provider_ca_file")]
    CaFile,
    /// No trusted certificates found on this system.
    #[error(
        "no trusted certificates found on this system: install ca-certificates or set provider_ca_file"
    )]
    None,
    /// Cannot set up TLS for providers.
    #[error("cannot set up TLS for providers")]
    Tls,
}

impl Connector {
    /// One connector for each reach, with shared trusted certificates.
    pub(crate) fn several<const N: usize>(
        reaches: [Reach; N],
        ca_file: Option<&Path>,
        limit: Duration,
    ) -> Result<[Self; N], RootsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| RootsError::Tls)?
            .with_root_certificates(roots(ca_file)?)
            .with_no_client_auth();
        Ok(reaches.map(|reach| {
            let https = HttpsConnectorBuilder::new()
                .with_tls_config(tls.clone())
                .https_or_http()
                .enable_all_versions()
                .wrap_connector(Dial { reach });
            Self { https, limit }
        }))
    }
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, RootsError> {
    let mut roots = RootCertStore::empty();
    // System stores contain malformed certificates; the valid ones are used.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca_file {
        let extra: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|_| RootsError::CaFile)?;
        if roots.add_parsable_certificates(extra).0 == 0 {
            return Err(RootsError::CaFile);
        }
    }
    if roots.is_empty() {
        Err(RootsError::None)
    } else {
        Ok(roots)
    }
}

impl Service<Uri> for Connector {
    type Response = <HttpsConnector<Dial> as Service<Uri>>::Response;
    type Error = ConnectError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.https.call(uri);
        let limit = self.limit;
        Box::pin(async move {
            match tokio::time::timeout(limit, connecting).await {
                Ok(Ok(connection)) => Ok(connection),
                Ok(Err(error)) => Err(reason(&*error)),
                Err(_) => Err(ConnectError::Timeout),
            }
        })
    }
}

/// The gateway's reason, if the error has one as its source; otherwise the handshake failed.
fn reason(error: &(dyn std::error::Error + 'static)) -> ConnectError {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(own) = error.downcast_ref::<ConnectError>() {
            return *own;
        }
        if let Some(inner) = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            next = Some(inner);
            continue;
        }
        next = error.source();
    }
    ConnectError::Tls
}

impl Service<Uri> for Dial {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let reach = self.reach;
        Box::pin(async move {
            let is_https = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
            let addresses = resolve(&uri).await?;
            let is_allowed = |ip| reach.allows(ip, is_https);
            connect(&addresses, is_allowed).await.map(TokioIo::new)
        })
    }
}

async fn resolve(uri: &Uri) -> Result<Vec<SocketAddr>, ConnectError> {
    let host = uri
        .host()
        .ok_or(ConnectError::Resolve)?
        .trim_start_matches('[')
        .trim_end_matches(']');
    let is_https = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
    let port = uri.port_u16().unwrap_or(if is_https { 443 } else { 80 });
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let found = tokio::net::lookup_host((host, port))
        .await
        .map_err(|_| ConnectError::Resolve)?;
    Ok(found.collect())
}

/// Tries the allowed addresses in turn. A forbidden address is never contacted.
async fn connect(
    addresses: &[SocketAddr],
    is_allowed: impl Fn(IpAddr) -> bool,
) -> Result<TcpStream, ConnectError> {
    let allowed = addresses.iter().filter(|address| is_allowed(address.ip()));
    let allowed: Vec<&SocketAddr> = allowed.collect();
    if allowed.is_empty() {
        return Err(if addresses.is_empty() {
            ConnectError::Resolve
        } else {
            ConnectError::Forbidden
        });
    }
    let stream = first_of(allowed).await.ok_or(ConnectError::Refused)?;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// The first successful connection. Each address gets a head start before the next, so that one dead address of several
/// (usually an IPv6 address without a route) costs little.
async fn first_of(addresses: Vec<&SocketAddr>) -> Option<TcpStream> {
    let mut attempts = FuturesUnordered::new();
    let mut addresses = addresses.into_iter().peekable();
    loop {
        if let Some(address) = addresses.next() {
            attempts.push(TcpStream::connect(address));
        }
        let has_more = addresses.peek().is_some();
        tokio::select! {
            attempt = attempts.next() => match attempt {
                Some(Ok(stream)) => return Some(stream),
                Some(Err(_)) => {}
                None => return None,
            },
            () = tokio::time::sleep(HEAD_START), if has_more => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn name_with_a_private_address_is_refused() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let uri: Uri = format!("http://localhost:{port}/").parse().unwrap();
        let dial = |reach| Dial { reach }.call(uri.clone());
        let refused = dial(Reach::Public).await;
        assert_eq!(refused.err(), Some(ConnectError::Forbidden));
        let waited = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(waited.is_err(), "a connection was opened");
        assert!(dial(Reach::Anywhere).await.is_ok());
    }

    #[tokio::test]
    async fn only_allowed_addresses_are_tried() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let inside = listener.local_addr().unwrap();
        let public = |ip| Reach::Public.allows(ip, true);
        let metadata: SocketAddr = "169.254.169.254:80".parse().unwrap();
        assert_eq!(
            connect(&[metadata, inside], public).await.err(),
            Some(ConnectError::Forbidden)
        );
        assert_eq!(
            connect(&[], |_| true).await.err(),
            Some(ConnectError::Resolve)
        );
    }

    #[test]
    fn plain_http_reaches_only_private_services() {
        let rows: &[(&str, bool, bool)] = &[
            // Address; whether encrypted; whether allowed.
            ("169.254.169.254", false, true),
            ("127.0.0.1", false, true),
            ("fd00:ec2::254", false, true),
            ("8.8.8.8", false, false),
            ("8.8.8.8", true, true),
            ("0.0.0.0", false, false),
        ];
        for (ip, is_https, is_allowed) in rows {
            let ip: IpAddr = ip.parse().unwrap();
            assert_eq!(Reach::Machine.allows(ip, *is_https), *is_allowed, "{ip}");
        }
    }

    #[tokio::test]
    async fn dead_address_does_not_delay_live_address() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let live = listener.local_addr().unwrap();
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let nowhere: SocketAddr = "192.0.2.1:80".parse().unwrap();
        for addresses in [[closed, live], [nowhere, live]] {
            let connected =
                tokio::time::timeout(Duration::from_secs(2), connect(&addresses, |_| true)).await;
            assert_eq!(connected.unwrap().unwrap().peer_addr().unwrap(), live);
        }
        assert_eq!(
            connect(&[closed], |_| true).await.err(),
            Some(ConnectError::Refused)
        );
    }
}
