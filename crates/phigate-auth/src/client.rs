//! Proofs of a client of OpenID Connect at its token endpoint.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::fetch::escaped;
use crate::secret::Secret;

/// Value of the header `authorization` with a client's id and secret (RFC 6749, section 2.3.1).
pub fn client_credentials(client_id: &str, secret: &str) -> Secret {
    let pair = format!("{}:{}", escaped(client_id), escaped(secret));
    Secret::new(format!("Basic {}", STANDARD.encode(pair)))
}

/// Hash of a login's secret, which the provider gets before the secret (PKCE, RFC 7636).
pub fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_is_as_in_the_standard() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(code_challenge(verifier), challenge);
    }

    #[test]
    fn client_parts_are_escaped() {
        let header = client_credentials("gate:1", "a b");
        let pair = STANDARD.decode(&header.expose()["Basic ".len()..]).unwrap();
        assert_eq!(pair, b"gate%3A1:a%20b");
    }
}
