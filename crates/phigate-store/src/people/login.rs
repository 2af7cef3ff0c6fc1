//! Verifies passwords, at login and in a session.

use phigate_types::Act;

use crate::item::{Item, ItemKind};
use crate::model::{AdminAct, Login, LoginOutcome, User};
use crate::people::throttle::{Begun, Guess};
use crate::people::users::{UserBody, normal_email, public};
use crate::people::{People, devices, passwords};
use crate::{Result, SecretString, StoreError};

impl People {
    /// Verifies an e-mail address and password, with a slow hash and a limit on attempts. A failed attempt is recorded.
    /// The caller then asks for the second factor.
    pub async fn verify_login(&self, login: &Login<'_>) -> Result<LoginOutcome> {
        let email = normal_email(login.email);
        let item = self.core.guard().find(ItemKind::User, &email).await?;
        let known: Option<(Item, UserBody)> = item
            .map(|item| item.read().map(|stored| (item, stored)))
            .transpose()?;
        let key = &self.core.keyring.root.guesses;
        let guess = match self.device_of(known.as_ref(), login.device) {
            Some(device) => Guess::login_on_device(key, &email, &device),
            None => Guess::login(key, &email, login.origin),
        };
        self.check_password(&guess, known, login.password, login.origin)
            .await
    }

    /// Verifies the password of a signed-in user, for example before a reveal.
    pub async fn confirm_password(
        &self,
        user: &User,
        password: &SecretString,
        origin: &str,
    ) -> Result<bool> {
        let known = self.core.stored_user(user).await?;
        let guess = Guess::confirmation(&self.core.keyring.root.guesses, &user.id);
        match self
            .check_password(&guess, Some(known), password, origin)
            .await?
        {
            LoginOutcome::Right(found) => Ok(found.id == user.id),
            LoginOutcome::Wrong | LoginOutcome::SignOnOnly => Ok(false),
            LoginOutcome::Throttled { retry_after_s } => {
                Err(StoreError::Throttled { retry_after_s })
            }
        }
    }

    /// The user's device that a token belongs to.
    fn device_of(&self, known: Option<&(Item, UserBody)>, token: Option<&str>) -> Option<String> {
        let ((item, stored), token) = (known?, token?);
        let key = &self.core.keyring.root.devices;
        devices::recognise(key, &item.id, &stored.password, token, self.core.now())
    }

    async fn check_password(
        &self,
        guess: &Guess,
        known: Option<(Item, UserBody)>,
        password: &SecretString,
        origin: &str,
    ) -> Result<LoginOutcome> {
        let is_guessed_at = match self.begin_guess(guess).await? {
            Begun::Counted { is_guessed_at } => is_guessed_at,
            Begun::Wait(retry_after_s) => return Ok(LoginOutcome::Throttled { retry_after_s }),
        };
        // An unknown address costs as much time as a wrong password.
        let hash = known
            .as_ref()
            .map(|(_, stored)| stored.password.as_str())
            .filter(|hash| !hash.is_empty());
        let is_right = self.passwords.verify(password, hash).await?;
        match known {
            Some((item, stored)) if is_right => {
                self.settle_guess(guess).await?;
                if self.core.sign_on_item(&item.account).await?.is_some()
                    && !stored.may_break_glass()
                {
                    let known = (item, stored);
                    self.record_failure(Act::LoginFailed, Some(&known), origin)
                        .await?;
                    return Ok(LoginOutcome::SignOnOnly);
                }
                let user = public(&item, &stored);
                if passwords::is_bare(&stored.password) {
                    self.pepper(&item, stored, password).await?;
                }
                Ok(LoginOutcome::Right(Box::new(user)))
            }
            known => {
                if is_guessed_at {
                    self.record_failure(Act::LoginGuessed, known.as_ref(), origin)
                        .await?;
                }
                self.record_failure(Act::LoginFailed, known.as_ref(), origin)
                    .await?;
                Ok(LoginOutcome::Wrong)
            }
        }
    }

    /// Rehashes a verified password with the secret, so that guesses cannot be tested without the master key.
    async fn pepper(
        &self,
        item: &Item,
        mut stored: UserBody,
        password: &SecretString,
    ) -> Result<()> {
        // A password shorter than today's minimum keeps its hash until it is changed.
        if let Ok(hash) = self.passwords.hash(password).await {
            stored.password = hash;
            // If this loses against another change, the next login does it.
            self.core
                .change_quietly(vec![item.replaced_by(&stored)])
                .await?;
        }
        Ok(())
    }

    async fn record_failure(
        &self,
        what: Act,
        known: Option<&(Item, UserBody)>,
        origin: &str,
    ) -> Result<()> {
        let act = |name: &str| {
            AdminAct::new(self.core.now(), name, "anonymous", what).detail("origin", origin)
        };
        // An unknown address is not recorded, because the user may have typed a password there.
        let Some((item, stored)) = known else {
            return self.core.record_act(None, &act("")).await;
        };
        let name = self.core.guard().account_name(&item.account).await?;
        self.core
            .record_act(Some(&item.account), &act(&name).target(&stored.email))
            .await
    }
}
