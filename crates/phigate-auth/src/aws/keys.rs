//! AWS credentials, and the signing key of the day.

use std::sync::{Mutex, PoisonError};

use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use crate::secret::Secret;

/// Credentials for signatures.
pub(crate) struct Keys {
    id: String,
    secret: Secret,
    session_token: Option<Secret>,
    /// Last derived key and its scope. Deriving a key takes longer than the rest of a signature, and the key holds for
    /// a day. It is dropped with its credentials, so new credentials cannot use an old key.
    made: Mutex<Option<(String, hmac::Key)>>,
}

impl Keys {
    pub(crate) fn new(id: String, secret: Secret, session_token: Option<Secret>) -> Self {
        Self {
            id,
            secret,
            session_token,
            made: Mutex::new(None),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn session_token(&self) -> Option<&str> {
        self.session_token.as_ref().map(Secret::expose)
    }

    /// Key for signatures within a scope: `day/region/service/aws4_request`. Each part is signed with the key derived
    /// from the part before.
    pub(super) fn signing_key(&self, scope: &str) -> hmac::Key {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = made.as_ref().filter(|(known, _)| known == scope) {
            return key.clone();
        }
        let start = Zeroizing::new(format!("AWS4{}", self.secret.expose()));
        let mut key = hmac::Key::new(hmac::HMAC_SHA256, start.as_bytes());
        for part in scope.split('/') {
            let tag = hmac::sign(&key, part.as_bytes());
            key = hmac::Key::new(hmac::HMAC_SHA256, tag.as_ref());
        }
        *made = Some((scope.to_owned(), key.clone()));
        key
    }
}

#[cfg(test)]
impl Keys {
    /// Whether these are the given credentials.
    pub(super) fn are(&self, id: &str, secret: &str, session_token: Option<&str>) -> bool {
        let (known, token) = (self.secret.expose(), self.session_token());
        (self.id.as_str(), known, token) == (id, secret, session_token)
    }
}

/// Shows the type only, never the credentials.
impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Keys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(keys: &Keys, scope: &str) -> Vec<u8> {
        hmac::sign(&keys.signing_key(scope), b"x").as_ref().to_vec()
    }

    /// The chain of HMACs, computed without the cached key.
    fn by_hand(secret: &str, parts: &[&str]) -> Vec<u8> {
        let mut key = format!("AWS4{secret}").into_bytes();
        for part in parts.iter().chain(&["x"]) {
            let of = hmac::Key::new(hmac::HMAC_SHA256, &key);
            key = hmac::sign(&of, part.as_bytes()).as_ref().to_vec();
        }
        key
    }

    #[test]
    fn cached_key_serves_only_its_scope() {
        let [one, two] =
            ["first", "second"].map(|secret| Keys::new("AKID".to_owned(), secret.into(), None));
        // Two rounds: a cached key must not serve the scope after it.
        for _ in 0..2 {
            for (day, region) in [
                ("20261231", "us-east-1"),
                ("20270101", "us-east-1"),
                ("20261231", "eu-west-1"),
            ] {
                let scope = format!("{day}/{region}/bedrock/aws4_request");
                let parts = [day, region, "bedrock", "aws4_request"];
                assert_eq!(signature(&one, &scope), by_hand("first", &parts));
                // The same id with another secret: a key that was replaced in place.
                assert_eq!(signature(&two, &scope), by_hand("second", &parts));
            }
        }
    }

    #[test]
    fn debug_output_shows_nothing() {
        let keys = Keys::new("AKIAHIDDEN".to_owned(), "hunter2".into(), None);
        assert_eq!(format!("{keys:?}"), "Keys");
    }
}
