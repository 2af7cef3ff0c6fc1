//! Our certificate: read at start, and again whenever its files change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::TlsFiles;

/// How often the files are looked at.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("tls.cert holds no readable certificate")]
    Certificate,
    #[error("tls.key holds no readable private key")]
    Key,
    #[error("tls.cert and tls.key do not belong together")]
    Pair,
}

/// The certificate in use. Clones share it.
#[derive(Clone)]
pub(super) struct Certificate {
    current: Arc<ArcSwap<ServerConfig>>,
}

impl Certificate {
    /// Reads the files, and keeps looking at them as long as the server runs.
    pub(super) fn watch(files: &TlsFiles, every: Duration) -> Result<Self, TlsError> {
        let certificate = Self {
            current: Arc::new(ArcSwap::new(read(files)?)),
        };
        let (current, files) = (Arc::clone(&certificate.current), files.clone());
        tokio::spawn(async move {
            let mut seen = changed_at(&files);
            loop {
                tokio::time::sleep(every).await;
                let (files, before) = (files.clone(), seen);
                let look = tokio::task::spawn_blocking(move || look_again(&files, before));
                match look.await {
                    Ok(Some((now, Ok(config)))) => {
                        current.store(config);
                        seen = now;
                        tracing::info!("the certificate was read again");
                    }
                    // Half-written files are read again at the next look.
                    Ok(Some((_, Err(error)))) => {
                        tracing::warn!("the changed certificate is not used: {error}");
                    }
                    Ok(None) | Err(_) => {}
                }
            }
        });
        Ok(certificate)
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.load_full())
    }
}

fn read(files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect)
        .map_err(|_| TlsError::Certificate)?;
    if chain.is_empty() {
        return Err(TlsError::Certificate);
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|_| TlsError::Key)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| TlsError::Pair)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|_| TlsError::Pair)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// When the files were changed.
type Changed = [Option<SystemTime>; 2];

/// Reads the files if they were changed since.
fn look_again(
    files: &TlsFiles,
    seen: Changed,
) -> Option<(Changed, Result<Arc<ServerConfig>, TlsError>)> {
    let now = changed_at(files);
    (now != seen).then(|| (now, read(files)))
}

fn changed_at(files: &TlsFiles) -> Changed {
    let changed = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|about| about.modified())
            .ok()
    };
    [changed(&files.cert), changed(&files.key)]
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tokio::net::TcpListener;

    use super::super::tests::{serve_on, test_router};
    use super::*;
    use crate::config::Limits;
    use crate::provider::{BaseUrl, Outgoing, Provider, ProviderError};

    /// A folder with a fresh self-signed certificate for 127.0.0.1.
    fn certificate(folder: &Path) -> TlsFiles {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
        let files = TlsFiles {
            cert: folder.join("cert.pem"),
            key: folder.join("key.pem"),
        };
        std::fs::write(&files.cert, made.cert.pem()).unwrap();
        std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        files
    }

    async fn echo(base: &BaseUrl, trusted: Option<PathBuf>) -> Result<bytes::Bytes, ProviderError> {
        let provider = Provider::new(&Limits::default(), true, trusted.as_deref()).unwrap();
        let call = Outgoing {
            account: "a",
            base,
            method: http::Method::POST,
            path: vec!["v1".to_owned(), "echo".to_owned()],
            query: None,
            headers: Vec::new(),
            body: bytes::Bytes::from_static(b"hello"),
        };
        provider.send(call).await?.body.read_all().await
    }

    #[tokio::test]
    async fn a_trusted_certificate_is_spoken_to_and_a_changed_one_is_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let files = certificate(folder.path());
        let watched = Certificate::watch(&files, Duration::from_millis(50)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base =
            BaseUrl::parse(&format!("https://{}", listener.local_addr().unwrap()), true).unwrap();
        let server = serve_on(listener, Limits::default(), test_router(), Some(watched));

        assert_eq!(
            echo(&base, Some(files.cert.clone())).await.unwrap(),
            "hello"
        );
        assert_eq!(
            echo(&base, None).await,
            Err(ProviderError::Unreachable),
            "an unknown certificate was trusted"
        );

        let old = tempfile::tempdir().unwrap();
        std::fs::copy(&files.cert, old.path().join("old.pem")).unwrap();
        certificate(folder.path());
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(
            echo(&base, Some(files.cert.clone())).await.unwrap(),
            "hello"
        );
        assert_eq!(
            echo(&base, Some(old.path().join("old.pem"))).await,
            Err(ProviderError::Unreachable)
        );
        drop(server);
    }

    #[tokio::test]
    async fn files_that_are_no_certificate_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = certificate(folder.path());
        std::fs::write(&files.key, "nothing").unwrap();
        let error = Certificate::watch(&files, LOOK_AGAIN).err().unwrap();
        assert!(error.to_string().contains("tls.key"));
        std::fs::write(&files.cert, "nothing").unwrap();
        let error = Certificate::watch(&files, LOOK_AGAIN).err().unwrap();
        assert!(error.to_string().contains("tls.cert"));
    }
}
