//! Users of the dashboard: made, listed, removed; passwords and second factors.

use crate::core::{Core, about};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{AdminAct, Login, LoginOutcome, Role, User};
use crate::people::throttle::Guess;
use crate::people::{People, devices, passwords};
use crate::{Result, SecretBytes, SecretString, StoreError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};

/// A user as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UserBody {
    pub(crate) email: String,
    pub(crate) role: Role,
    pub(crate) password: String,
    pub(crate) totp: Option<String>,
    /// The last time step a code was accepted for: each code works once.
    #[serde(default)]
    pub(crate) totp_step: u64,
    pub(crate) created: Timestamp,
    pub(crate) last_login: Option<Timestamp>,
}

impl People {
    /// The change that makes a user.
    pub(super) async fn new_user(
        &self,
        account_id: &str,
        email: &str,
        password: &SecretString,
        role: Role,
    ) -> Result<(Change, User)> {
        let email = normal_email(email);
        check_email(&email)?;
        let stored = UserBody {
            email: email.clone(),
            role,
            password: self.passwords.hash(password).await?,
            totp: None,
            totp_step: 0,
            created: self.core.now(),
            last_login: None,
        };
        let item = Item::new(
            account_id,
            ItemKind::User,
            &random_id(12),
            Some(&email),
            &stored,
        );
        let user = public(&item, &stored);
        Ok((Change::Put(item, Expect::Absent), user))
    }

    /// Makes a user. E-mail addresses are unique in the whole store, so that a login needs no account.
    pub async fn create_user(
        &self,
        account_id: &str,
        email: &str,
        password: &SecretString,
        role: Role,
        actor: &str,
    ) -> Result<User> {
        let (_, account) = self.core.account_item(account_id).await?;
        let (put, user) = self.new_user(account_id, email, password, role).await?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::UserCreate)
            .target(&user.email)
            .detail("role", role.code());
        let mut changes = Vec::new();
        if role == Role::Owner {
            changes = self.core.withdraw_owner_links(account_id, None).await?;
        }
        changes.push(put);
        self.core
            .change(account_id, &act, changes, false)
            .await
            .map_err(about("a user with this e-mail address"))?;
        Ok(user)
    }

    /// The users of an account, by e-mail address.
    pub async fn users(&self, account_id: &str) -> Result<Vec<User>> {
        let items = self.core.guard().items(account_id, ItemKind::User).await?;
        let mut users = items
            .iter()
            .map(|item| Ok(public(item, &item.read()?)))
            .collect::<Result<Vec<User>>>()?;
        users.sort_by(|one, other| one.email.cmp(&other.email));
        Ok(users)
    }

    /// Removes a user, ends their sessions and withdraws their invitations, which would let them in again.
    pub async fn remove_user(&self, account_id: &str, email: &str, actor: &str) -> Result<()> {
        let (item, stored) = self.core.user_by_email(account_id, email).await?;
        let (_, account) = self.core.account_item(account_id).await?;
        let mut changes = self.core.end_sessions(account_id, &item.id, None).await?;
        changes.extend(self.core.withdraw_links(account_id, &stored.email).await?);
        changes.push(Change::Delete {
            account: item.account.clone(),
            kind: ItemKind::User,
            id: item.id.clone(),
        });
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::UserRemove)
            .target(&stored.email);
        self.core
            .change(account_id, &act, changes, false)
            .await
            .map_err(about("user"))
    }

    /// Sets a user's password and ends all their sessions but one.
    pub async fn set_password(
        &self,
        account_id: &str,
        email: &str,
        password: &SecretString,
        keep_session: Option<&str>,
        actor: &str,
    ) -> Result<()> {
        let hash = self.passwords.hash(password).await?;
        self.edit_user(
            account_id,
            email,
            keep_session,
            actor,
            Act::UserPassword,
            |stored| {
                stored.password = hash.clone();
            },
        )
        .await
    }

    /// Changes what a user may do, and ends their sessions.
    pub async fn set_role(
        &self,
        account_id: &str,
        email: &str,
        role: Role,
        actor: &str,
    ) -> Result<()> {
        self.edit_user(account_id, email, None, actor, Act::UserRole, |stored| {
            stored.role = role;
        })
        .await
    }

    /// Checks an e-mail address and password, slowly and not too often. A failed attempt is recorded. A second factor
    /// is the caller's next step.
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

    /// Checks the password of somebody who is logged in already, before a reveal or the like.
    pub async fn confirm_password(
        &self,
        user: &User,
        password: &SecretString,
        origin: &str,
    ) -> Result<bool> {
        let known = self
            .core
            .user_by_email(&user.account_id, &user.email)
            .await?;
        let guess = Guess::confirmation(&self.core.keyring.root.guesses, &user.id);
        match self
            .check_password(&guess, Some(known), password, origin)
            .await?
        {
            LoginOutcome::Right(found) => Ok(found.id == user.id),
            LoginOutcome::Wrong => Ok(false),
            LoginOutcome::Throttled { retry_after_s } => {
                Err(StoreError::Throttled { retry_after_s })
            }
        }
    }

    /// Which of the user's devices a token belongs to.
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
        if let Some(retry_after_s) = self.begin_guess(guess).await? {
            return Ok(LoginOutcome::Throttled { retry_after_s });
        }
        // An unknown address costs as much time as a wrong password.
        let hash = known.as_ref().map(|(_, stored)| stored.password.as_str());
        let is_right = self.passwords.verify(password, hash).await?;
        match known {
            Some((item, stored)) if is_right => {
                self.settle_guess(guess).await?;
                let user = public(&item, &stored);
                if passwords::is_bare(&stored.password) {
                    self.pepper(&item, stored, password).await?;
                }
                Ok(LoginOutcome::Right(Box::new(user)))
            }
            known => {
                self.record_failure(known.as_ref(), origin).await?;
                Ok(LoginOutcome::Wrong)
            }
        }
    }

    /// Hashes a password anew, now that it is known, so that the hash cannot be tried out without the master key.
    async fn pepper(
        &self,
        item: &Item,
        mut stored: UserBody,
        password: &SecretString,
    ) -> Result<()> {
        // A password from before there was a minimum stays as it is until it is changed.
        if let Ok(hash) = self.passwords.hash(password).await {
            stored.password = hash;
            // Should this lose against another change, the next login does it.
            self.core
                .change_quietly(vec![item.replaced_by(&stored)])
                .await?;
        }
        Ok(())
    }

    async fn record_failure(&self, known: Option<&(Item, UserBody)>, origin: &str) -> Result<()> {
        let act = |name: &str| {
            AdminAct::new(self.core.now(), name, "anonymous", Act::LoginFailed)
                .detail("origin", origin)
        };
        // What was typed as an address may be a password, so an unknown one is not kept.
        let Some((item, stored)) = known else {
            return self.core.record_act(None, &act("")).await;
        };
        let name = self.core.guard().account_name(&item.account).await?;
        self.core
            .record_act(Some(&item.account), &act(&name).target(&stored.email))
            .await
    }

    /// Sets or removes the secret of a second factor and ends all the user's sessions but one.
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
            },
        )
        .await
    }

    /// The secret of a user's second factor.
    pub async fn totp(&self, user: &User) -> Result<Option<SecretBytes>> {
        let (_, stored) = self
            .core
            .user_by_email(&user.account_id, &user.email)
            .await?;
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

    /// Marks the time step of a one-time code as used. False when it, or a later one, was used before.
    pub async fn use_totp_step(&self, user: &User, step: u64) -> Result<bool> {
        for _ in 0..8 {
            let (item, mut stored) = self
                .core
                .user_by_email(&user.account_id, &user.email)
                .await?;
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
        Err(StoreError::Conflict("user"))
    }

    async fn edit_user(
        &self,
        account_id: &str,
        email: &str,
        keep_session: Option<&str>,
        actor: &str,
        what: Act,
        edit: impl Fn(&mut UserBody),
    ) -> Result<()> {
        let (item, mut stored) = self.core.user_by_email(account_id, email).await?;
        let (_, account) = self.core.account_item(account_id).await?;
        edit(&mut stored);
        let mut changes = self
            .core
            .end_sessions(account_id, &item.id, keep_session)
            .await?;
        changes.push(item.replaced_by(&stored));
        let act = AdminAct::new(self.core.now(), &account.name, actor, what).target(&stored.email);
        self.core
            .change(account_id, &act, changes, false)
            .await
            .map_err(about("user"))
    }
}

impl Core {
    /// Whether an account has an owner.
    pub(super) async fn has_owner(&self, account_id: &str) -> Result<bool> {
        for item in self.guard().items(account_id, ItemKind::User).await? {
            if item.read::<UserBody>()?.role == Role::Owner {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) async fn user_by_email(
        &self,
        account_id: &str,
        email: &str,
    ) -> Result<(Item, UserBody)> {
        let found = self
            .guard()
            .find(ItemKind::User, &normal_email(email))
            .await?;
        let item = found
            .filter(|item| item.account == account_id)
            .ok_or(StoreError::NotFound("user"))?;
        let stored = item.read()?;
        Ok((item, stored))
    }
}

/// A user without secrets.
pub(crate) fn public(item: &Item, stored: &UserBody) -> User {
    User {
        id: item.id.clone(),
        account_id: item.account.clone(),
        email: stored.email.clone(),
        role: stored.role,
        has_totp: stored.totp.is_some(),
        created: stored.created,
        last_login: stored.last_login,
    }
}

fn totp_place<'a>(account: &'a str, user: &'a str) -> Place<'a> {
    Place {
        account,
        table: "user",
        record: user,
        field: "totp",
    }
}

pub(crate) fn normal_email(email: &str) -> String {
    email.trim().to_lowercase()
}

pub(crate) fn check_email(email: &str) -> Result<()> {
    let parts = email.split_once('@').filter(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !host.contains('@') && email.len() <= 254
    });
    let is_plain = email
        .chars()
        .all(|character| !character.is_whitespace() && !character.is_control());
    match parts {
        Some(_) if is_plain => Ok(()),
        _ => Err(StoreError::Invalid {
            what: "e-mail address",
            why: "not of the form name@host",
        }),
    }
}
