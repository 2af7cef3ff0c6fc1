//! The gateway's certificate: read at start, and again when its files change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use x509_cert::der::Decode;

/// Paths of the certificate chain and its key, both PEM, reloaded when they change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain, leaf first.
    pub cert: PathBuf,
    /// The private key of the leaf.
    pub key: PathBuf,
}

impl TlsFiles {
    /// The end of the certificate, in seconds since 1970, as the file says it now.
    pub fn ends_at(&self) -> Option<u64> {
        let leaf = CertificateDer::from_pem_file(&self.cert).ok()?;
        let leaf = x509_cert::Certificate::from_der(&leaf).ok()?;
        let end = leaf.tbs_certificate.validity.not_after;
        Some(end.to_unix_duration().as_secs())
    }
}

/// Interval of checking the files for changes.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// Reason why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate chain cannot be read.
    #[error("tls.cert holds no readable certificate")]
    Certificate,
    /// The private key cannot be read.
    #[error("tls.key holds no readable private key")]
    Key,
    /// The key does not belong to the certificate.
    #[error("tls.cert and tls.key do not belong together")]
    Pair,
}

/// Certificate in use. Clones share it.
#[derive(Clone)]
pub(crate) struct Certificate {
    current: Arc<ArcSwap<ServerConfig>>,
}

impl Certificate {
    /// Reads the files, and reloads them on change while the server runs.
    pub(crate) fn watch(files: &TlsFiles, every: Duration) -> Result<Self, TlsError> {
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
                    // Half-written files are read again at the next check.
                    Ok(Some((_, Err(error)))) => {
                        tracing::warn!("the changed certificate is not used: {error}");
                    }
                    Ok(None) | Err(_) => {}
                }
            }
        });
        Ok(certificate)
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
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

/// Modification times of the files.
type Changed = [Option<SystemTime>; 2];

/// Reads the files if they changed.
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
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_rustls::TlsConnector;

    use super::*;
    use crate::server::tests::{serve_on, test_router};
    use phigate_types::Limits;

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

    /// Status line that a client which trusts this certificate gets; `None` if it rejects the server.
    async fn status(address: std::net::SocketAddr, trusted: &Path) -> Option<String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(trusted).unwrap() {
            roots.add(certificate.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect(name, stream).await.ok()?;
        let request = b"GET /healthz HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        answer.lines().next().map(str::to_owned)
    }

    #[tokio::test]
    async fn changed_certificates_are_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let files = certificate(folder.path());
        let watched = Certificate::watch(&files, Duration::from_millis(50)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve_on(listener, Limits::default(), test_router(), Some(watched));
        let fine = Some("HTTP/1.1 200 OK".to_owned());
        assert_eq!(status(address, &files.cert).await, fine);

        let old = tempfile::tempdir().unwrap();
        std::fs::copy(&files.cert, old.path().join("old.pem")).unwrap();
        certificate(folder.path());
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(status(address, &files.cert).await, fine);
        assert_eq!(
            status(address, &old.path().join("old.pem")).await,
            None,
            "an unknown certificate was shown"
        );
        drop(server);
    }

    #[test]
    fn end_of_a_certificate_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = certificate(folder.path());
        let mut params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(2030, 1, 2);
        let key = rcgen::KeyPair::generate().unwrap();
        let made = params.self_signed(&key).unwrap();
        std::fs::write(&files.cert, made.pem()).unwrap();
        assert_eq!(files.ends_at(), Some(1_893_542_400));
        std::fs::write(&files.cert, "nothing").unwrap();
        assert_eq!(files.ends_at(), None);
    }

    #[tokio::test]
    async fn invalid_certificate_files_are_named() {
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
