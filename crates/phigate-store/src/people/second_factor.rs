//! The second factor: a secret from which an app computes one-time codes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use phigate_types::Act;

use crate::item::ItemKind;
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::User;
use crate::people::People;
use crate::{Result, SecretBytes, StoreError};

impl People {
    /// Sets or removes the secret of a second factor and ends all the user's sessions except one.
    pub async fn set_totp(
        &self,
        user: &User,
        secret: Option<&SecretBytes>,
        keep_session: Option<&str>,
        actor: &str,
    ) -> Result<()> {
        let sealed = match secret {
            Some(secret) => {
                let place = totp_place(&user.account_id, &user.id);
                let sealed = self
                    .core
                    .keyring
                    .seal(Purpose::Secrets, self.core.now(), place, secret.expose())
                    .await?;
                Some(STANDARD.encode(sealed))
            }
            None => None,
        };
        let what = if secret.is_some() {
            Act::UserTotpSet
        } else {
            Act::UserTotpRemove
        };
        self.edit_user(
            &user.account_id,
            &user.email,
            keep_session,
            actor,
            what,
            |stored| {
                stored.totp = sealed.clone();
                stored.totp_step = 0;
                stored.recovery.clear();
            },
        )
        .await
    }

    /// The secret of a user's second factor.
    pub async fn totp(&self, user: &User) -> Result<Option<SecretBytes>> {
        let (_, stored) = self.core.stored_user(user).await?;
        let Some(sealed) = stored.totp else {
            return Ok(None);
        };
        let sealed = STANDARD
            .decode(sealed)
            .map_err(|_| StoreError::Unreadable("second factor"))?;
        self.core
            .keyring
            .unseal(totp_place(&user.account_id, &user.id), &sealed)
            .await
            .map(Some)
    }

    /// Marks the time step of a one-time code as used. False if it, or a later step, was used before.
    pub async fn use_totp_step(&self, user: &User, step: u64) -> Result<bool> {
        for _ in 0..8 {
            let (item, mut stored) = self.core.stored_user(user).await?;
            if step <= stored.totp_step {
                return Ok(false);
            }
            stored.totp_step = step;
            if self
                .core
                .change_quietly(vec![item.replaced_by(&stored)])
                .await?
            {
                return Ok(true);
            }
        }
        Err(StoreError::Conflict(ItemKind::User.label()))
    }
}

fn totp_place<'a>(account: &'a str, user: &'a str) -> Place<'a> {
    Place {
        account,
        table: ItemKind::User.code(),
        record: user,
        field: "totp",
    }
}
