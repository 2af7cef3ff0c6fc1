//! Devices: a browser that signed in keeps a signed token, which separates its wrong guesses from those of strangers.
//!
//! The token grants no access. It names a user and an expiry, and is bound to the password: a new password invalidates
//! all tokens of the user. Tokens are not stored.

use aws_lc_rs::hmac;
use jiff::{SignedDuration, Timestamp};
use phigate_verify::chain::hex;
use subtle::ConstantTimeEq;

use crate::keys::random_base62;
use crate::model::User;
use crate::people::People;
use crate::{Result, SecretString};

/// Validity of a device token.
pub const DEVICE_DAYS: i64 = 180;
/// Characters of a device's name: a little over 128 bits.
const NAME: usize = 22;

impl People {
    /// A token for the browser that just signed in.
    pub async fn device_token(&self, user: &User) -> Result<SecretString> {
        let (item, stored) = self.core.stored_user(user).await?;
        let valid = SignedDuration::from_hours(24 * DEVICE_DAYS);
        let expires = self
            .core
            .expiry(Some(valid))?
            .unwrap_or_else(|| self.core.now());
        let (name, expires_s) = (random_base62(NAME), expires.as_second());
        let proof = proof(
            &self.core.keyring.root.devices,
            &item.id,
            &stored.password,
            &name,
            expires_s,
        );
        Ok(SecretString::new(format!("{expires_s}.{name}.{proof}")))
    }
}

/// The name of a token's device, if the token is valid and belongs to this user.
pub(super) fn recognise(
    key: &hmac::Key,
    user_id: &str,
    password_hash: &str,
    token: &str,
    now: Timestamp,
) -> Option<String> {
    let (expires, rest) = token.split_once('.')?;
    let (name, given) = rest.split_once('.')?;
    let expires_s: i64 = expires.parse().ok()?;
    let right = proof(key, user_id, password_hash, name, expires_s);
    let is_ours: bool = right.as_bytes().ct_eq(given.as_bytes()).into();
    (is_ours && now.as_second() < expires_s).then(|| name.to_owned())
}

fn proof(
    key: &hmac::Key,
    user_id: &str,
    password_hash: &str,
    name: &str,
    expires_s: i64,
) -> String {
    let mut context = hmac::Context::with_key(key);
    for part in [user_id, password_hash, name] {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    context.update(&expires_s.to_be_bytes());
    hex(context.sign().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_token_is_bound_and_expires() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]);
        let at = |second| Timestamp::from_second(second).unwrap();
        let token = format!("100.name.{}", proof(&key, "jane", "hash", "name", 100));
        let known = |user, hash, token: &str, now| recognise(&key, user, hash, token, at(now));
        assert_eq!(known("jane", "hash", &token, 99).as_deref(), Some("name"));
        assert_eq!(known("jane", "hash", &token, 100), None, "expired");
        assert_eq!(known("john", "hash", &token, 99), None);
        assert_eq!(known("jane", "another", &token, 99), None);
        for wrong in [
            "",
            "100.name",
            "200.name.00",
            &token.replace("name", "game"),
        ] {
            assert_eq!(known("jane", "hash", wrong, 99), None, "{wrong}");
        }
        assert_eq!(
            known("jane", "hash", &token.replacen("100", "900", 1), 99),
            None
        );
    }
}
