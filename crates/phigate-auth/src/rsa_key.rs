//! RSA keys of service accounts.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;

/// An RSA key that signs assertions.
pub(crate) struct SigningKey(KeyPair);

impl SigningKey {
    /// Reads a key in PEM, PKCS #8 or PKCS #1.
    pub(crate) fn read(pem: &str) -> Option<Self> {
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()?;
        let pair = match &der {
            PrivateKeyDer::Pkcs8(key) => KeyPair::from_pkcs8(key.secret_pkcs8_der()).ok()?,
            PrivateKeyDer::Pkcs1(key) => KeyPair::from_der(key.secret_pkcs1_der()).ok()?,
            _ => return None,
        };
        Some(Self(pair))
    }

    /// Signs with PKCS #1 padding over SHA-256, which is RS256.
    pub(crate) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        let random = SystemRandom::new();
        self.0
            .sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
            .ok()?;
        Some(signature)
    }
}
