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

const LOOK_AGAIN: Duration = Duration::from_secs(30);

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
    pub(super) fn watch(files: &TlsFiles) -> Result<Self, TlsError> {
        let certificate = Self {
            current: Arc::new(ArcSwap::new(read(files)?)),
        };
        let (current, files) = (Arc::clone(&certificate.current), files.clone());
        tokio::spawn(async move {
            let mut seen = changed_at(&files);
            loop {
                tokio::time::sleep(LOOK_AGAIN).await;
                let now = changed_at(&files);
                if now == seen {
                    continue;
                }
                match read(&files) {
                    Ok(config) => {
                        current.store(config);
                        seen = now;
                        tracing::info!("the certificate was read again");
                    }
                    // Half-written files are read again at the next look.
                    Err(error) => tracing::warn!("the changed certificate is not used: {error}"),
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

fn changed_at(files: &TlsFiles) -> [Option<SystemTime>; 2] {
    let changed = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|about| about.modified())
            .ok()
    };
    [changed(&files.cert), changed(&files.key)]
}
