//! Keys of the installation, all derived from one root key.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::Ed25519KeyPair;

use crate::keys::{Key, derive};

/// Keys of the installation.
pub(crate) struct RootKeys {
    pub(crate) pepper: hmac::Key,
    /// Secret input of every password hash, so that guesses cannot be tested without the master key.
    pub(crate) passwords: Key,
    /// Authenticates rows.
    pub(super) rows: hmac::Key,
    /// Names the counts of failed logins.
    pub(crate) guesses: hmac::Key,
    /// Signs the device tokens that browsers keep after a login.
    pub(crate) devices: hmac::Key,
    /// Hashes recovery codes.
    pub(crate) recovery: hmac::Key,
    pub(crate) chain: hmac::Key,
    pub(crate) signing: Ed25519KeyPair,
}

impl RootKeys {
    pub(super) fn from(root: &[u8; 32]) -> Self {
        let mac = |purpose| hmac::Key::new(hmac::HMAC_SHA256, &*derive(root, purpose));
        Self {
            pepper: mac("api key pepper"),
            passwords: derive(root, "passwords"),
            rows: mac("rows"),
            guesses: mac("guesses"),
            devices: mac("devices"),
            recovery: mac("recovery codes"),
            chain: mac("chain"),
            signing: Ed25519KeyPair::from_seed_unchecked(&*derive(root, "checkpoint signing"))
                .expect("every 32 bytes are an Ed25519 seed"),
        }
    }
}
