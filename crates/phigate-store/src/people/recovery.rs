//! Recovery codes: each passes the second step once, for a user without the authenticator app.

use aws_lc_rs::hmac;
use phigate_types::Act;
use phigate_verify::chain::hex;

use crate::core::about;
use crate::keys::random_id;
use crate::model::{AdminAct, User};
use crate::people::People;
use crate::{Result, SecretString, StoreError};

/// Number of codes per set.
const CODES: usize = 10;
/// Characters of a code: 62 bits, protected by a limit on guesses.
const LENGTH: usize = 12;

impl People {
    /// Creates new recovery codes, which are shown once. Earlier codes are revoked.
    pub async fn make_recovery_codes(&self, user: &User, actor: &str) -> Result<Vec<SecretString>> {
        let codes: Vec<String> = (0..CODES).map(|_| random_id(LENGTH)).collect();
        let hashes: Vec<String> = codes
            .iter()
            .map(|code| self.recovery_hash(user, code))
            .collect();
        let (item, mut stored) = self.core.stored_user(user).await?;
        if stored.totp.is_none() {
            return Err(StoreError::NotFound("second factor"));
        }
        stored.recovery = hashes;
        let name = self.core.guard().account_name(&user.account_id).await?;
        let act = AdminAct::new(self.core.now(), &name, actor, Act::UserRecoverySet)
            .target(&stored.email)
            .detail("codes", &CODES);
        let changes = vec![item.replaced_by(&stored)];
        let changed = self.core.change(&user.account_id, &act, changes, false);
        changed.await.map_err(about("user"))?;
        Ok(codes.into_iter().map(SecretString::new).collect())
    }

    /// Redeems a recovery code. False if it is unknown or was used before.
    pub async fn use_recovery_code(&self, user: &User, code: &str, origin: &str) -> Result<bool> {
        let hash = self.recovery_hash(user, &plain(code));
        let (item, mut stored) = self.core.stored_user(user).await?;
        let before = stored.recovery.len();
        stored.recovery.retain(|known| *known != hash);
        if stored.recovery.len() == before {
            return Ok(false);
        }
        let name = self.core.guard().account_name(&user.account_id).await?;
        let act = AdminAct::new(self.core.now(), &name, &user.email, Act::UserRecoveryUse)
            .detail("left", &stored.recovery.len())
            .detail("origin", origin);
        let changes = vec![item.replaced_by(&stored)];
        // Of two concurrent uses of one code, one fails.
        let changed = self.core.change(&user.account_id, &act, changes, false);
        changed.await.map_err(about("user"))?;
        Ok(true)
    }

    /// The number of a user's unused recovery codes.
    pub async fn recovery_codes_left(&self, user: &User) -> Result<usize> {
        let (_, stored) = self.core.stored_user(user).await?;
        Ok(stored.recovery.len())
    }

    /// The hash of a code. Keyed, so that codes cannot be guessed from a stolen store.
    fn recovery_hash(&self, user: &User, code: &str) -> String {
        let mut context = hmac::Context::with_key(&self.core.keyring.root.recovery);
        context.update(user.id.as_bytes());
        context.update(&[0]);
        context.update(code.as_bytes());
        hex(context.sign().as_ref())
    }
}

/// A code in canonical form.
fn plain(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}
