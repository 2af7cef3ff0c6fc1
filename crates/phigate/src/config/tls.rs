//! `[tls]`: the server's certificate.

use std::path::PathBuf;

use phigate_edge::TlsFiles;
use serde::Deserialize;

use super::ConfigError;

/// `[tls]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTls {
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl RawTls {
    pub(super) fn check(self) -> Result<Option<TlsFiles>, ConfigError> {
        match (self.cert, self.key) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(ConfigError::Missing {
                key: "tls.key",
                because: "tls.cert is set",
            }),
            (None, Some(_)) => Err(ConfigError::Missing {
                key: "tls.cert",
                because: "tls.key is set",
            }),
        }
    }
}
