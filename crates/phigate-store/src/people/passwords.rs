//! Hashes passwords: argon2id, off the async threads, with a limit on concurrency.

use std::sync::{Arc, OnceLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::keys::Key;
use crate::{Result, SecretString, StoreError};

/// Concurrent hashes; each takes 19 MiB.
const AT_ONCE: usize = 4;
/// Limit on waiting logins, so that a flood costs neither memory nor hours.
const WAITING_MAX: usize = 64;
/// Minimum length of a new password, in characters. Shorter existing passwords remain valid.
pub const PASSWORD_CHARS_MIN: usize = 12;
/// Prefix of hashes that use the secret.
const PEPPERED: &str = "secret1";
/// Maximum length of a password, in bytes.
pub const PASSWORD_BYTES_MAX: usize = 1_024;

/// Hashes and checks passwords.
pub(super) struct Passwords {
    secret: Key,
    slots: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

impl Passwords {
    /// A hasher with a secret of the installation, without which guesses cannot be tested.
    pub(super) fn new(secret: Key) -> Self {
        Self {
            secret,
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            places: Arc::new(Semaphore::new(WAITING_MAX)),
        }
    }

    /// The hash of a new password, with its parameters and salt.
    pub(super) async fn hash(&self, password: &SecretString) -> Result<String> {
        check(password.expose())?;
        let (password, secret) = (password.clone(), self.secret.clone());
        self.work(move || hash_now(&password, &*secret)).await
    }

    /// Whether a password has this hash. Without a hash the result is false after the same time.
    pub(super) async fn verify(&self, password: &SecretString, hash: Option<&str>) -> Result<bool> {
        if password.expose().len() > PASSWORD_BYTES_MAX {
            return Ok(false);
        }
        let (password, hash) = (password.clone(), hash.map(str::to_owned));
        let secret = self.secret.clone();
        self.work(move || {
            let known = hash.is_some();
            let hash = hash.unwrap_or_else(|| nobody(&*secret).to_owned());
            let (hash, hasher) = match hash.strip_prefix(PEPPERED) {
                Some(hash) => (hash, hasher(&*secret)),
                None => (hash.as_str(), hasher(&[])),
            };
            let right = PasswordHash::new(hash).is_ok_and(|parsed| {
                hasher
                    .verify_password(password.expose().as_bytes(), &parsed)
                    .is_ok()
            });
            right && known
        })
        .await
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let busy = || StoreError::Throttled { retry_after_s: 5 };
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let slot = self
            .slots
            .clone()
            .acquire_owned()
            .await
            .map_err(|_| StoreError::Closed)?;
        let task = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work()
        });
        task.await
            .map_err(|_| StoreError::Unavailable("hashing was cut short".to_owned()))
    }
}

/// The rule for all new passwords.
fn check(password: &str) -> Result<()> {
    let is_long_enough = password.chars().count() >= PASSWORD_CHARS_MIN;
    if is_long_enough && password.len() <= PASSWORD_BYTES_MAX {
        return Ok(());
    }
    Err(StoreError::Invalid {
        what: "password",
        why: "use at least 12 characters, at most 1,024 bytes",
    })
}

/// Whether a hash was made by an older version, without the secret.
pub(super) fn is_bare(hash: &str) -> bool {
    !hash.starts_with(PEPPERED)
}

fn hash_now(password: &SecretString, secret: &[u8]) -> String {
    let hash = hasher(secret)
        .hash_password(password.expose().as_bytes())
        .expect("the parameters are valid and the length was checked");
    format!("{PEPPERED}{hash}")
}

/// Argon2id with OWASP's minimum: 19 MiB, two passes, one lane.
fn hasher(secret: &[u8]) -> Argon2<'_> {
    let parameters = Params::new(19_456, 2, 1, None).expect("these are valid parameters");
    Argon2::new_with_secret(secret, Algorithm::Argon2id, Version::V0x13, parameters)
        .expect("the secret is short")
}

/// The hash that passwords of unknown users are compared with.
fn nobody(secret: &[u8]) -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| hash_now(&SecretString::new(crate::keys::random_base62(32)), secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_passwords_are_neither_short_nor_endless() {
        for (password, is_taken) in [
            ("short words".to_owned(), false),
            ("twelve signs".to_owned(), true),
            ("é".repeat(PASSWORD_CHARS_MIN), true),
            ("x".repeat(PASSWORD_BYTES_MAX), true),
            ("x".repeat(PASSWORD_BYTES_MAX + 1), false),
        ] {
            assert_eq!(check(&password).is_ok(), is_taken, "{}", password.len());
        }
        let refusal = check("short").unwrap_err().to_string();
        assert!(
            refusal.contains(&PASSWORD_CHARS_MIN.to_string()),
            "{refusal}"
        );
    }
}
