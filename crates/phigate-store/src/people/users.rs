//! Users of the dashboard: create, list, remove; passwords and second factors.

use jiff::Timestamp;
use phigate_types::{Act, Role, Roles};
use serde::{Deserialize, Serialize};

use crate::core::{Core, about};
use crate::guard::TRIES;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::model::{AdminAct, Subject, User};
use crate::people::People;
use crate::{Result, SecretString, StoreError};

/// A user as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UserBody {
    pub(crate) email: String,
    /// The only role, or the first of several.
    pub(crate) role: Role,
    /// All roles, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) roles: Vec<Role>,
    /// Identity at the identity provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Subject>,
    /// Whether the password works although the account has single sign-on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) break_glass: bool,
    /// Hash of the password; empty if there is none, and then no password is right.
    pub(crate) password: String,
    pub(crate) totp: Option<String>,
    /// The time step of the last accepted code: each code is valid once.
    #[serde(default)]
    pub(crate) totp_step: u64,
    /// Hashes of unused recovery codes.
    #[serde(default)]
    pub(crate) recovery: Vec<String>,
    pub(crate) created: Timestamp,
    pub(crate) last_login: Option<Timestamp>,
}

impl People {
    /// The change that creates a user.
    pub(super) async fn new_user(
        &self,
        account_id: &str,
        email: &str,
        password: Option<&SecretString>,
        role: Role,
    ) -> Result<(Change, User)> {
        let email = normal_email(email);
        check_email(&email)?;
        let stored = UserBody {
            email: email.clone(),
            role,
            roles: Vec::new(),
            subject: None,
            break_glass: false,
            password: match password {
                Some(password) => self.passwords.hash(password).await?,
                None => String::new(),
            },
            totp: None,
            totp_step: 0,
            recovery: Vec::new(),
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

    /// Creates a user. E-mail addresses are unique in the whole store, so that a login needs no account.
    pub async fn create_user(
        &self,
        account_id: &str,
        email: &str,
        password: &SecretString,
        role: Role,
        actor: &str,
    ) -> Result<User> {
        self.create(account_id, email, Some(password), role, actor)
            .await
    }

    /// Creates a user without a password, who cannot sign in before one is set.
    pub async fn create_user_without_password(
        &self,
        account_id: &str,
        email: &str,
        role: Role,
        actor: &str,
    ) -> Result<User> {
        self.create(account_id, email, None, role, actor).await
    }

    async fn create(
        &self,
        account_id: &str,
        email: &str,
        password: Option<&SecretString>,
        role: Role,
        actor: &str,
    ) -> Result<User> {
        let (_, account) = self.core.account_item(account_id).await?;
        let (put, user) = self.new_user(account_id, email, password, role).await?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::UserCreate)
            .target(&user.email)
            .detail("role", role.code());
        for _ in 0..TRIES {
            let mut changes = Vec::new();
            if role == Role::Owner {
                changes = self.core.withdraw_owner_links(account_id, None).await?;
            }
            changes.push(put.clone());
            match self.core.change(account_id, &act, changes, false).await {
                // The owner links went with another new owner.
                Err(StoreError::Conflict(_)) if !self.is_user(&user.email).await? => {}
                done => {
                    return done
                        .map_err(about("a user with this e-mail address"))
                        .map(|()| user);
                }
            }
        }
        Err(StoreError::Conflict("a user with this e-mail address"))
    }

    /// Whether a user of any account has this address.
    async fn is_user(&self, email: &str) -> Result<bool> {
        let found = self.core.guard().find(ItemKind::User, email);
        Ok(found.await?.is_some())
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

    /// Marks an owner as break-glass, or removes the mark, and ends their sessions except one.
    pub async fn set_break_glass(
        &self,
        account_id: &str,
        email: &str,
        is_marked: bool,
        keep_session: Option<&str>,
        actor: &str,
    ) -> Result<()> {
        let (_, stored) = self.core.user_by_key(account_id, email).await?;
        if is_marked && !stored.all_roles().has(Role::Owner) {
            return Err(StoreError::Invalid {
                what: "break-glass mark",
                why: "only owners may have it",
            });
        }
        if stored.break_glass == is_marked {
            return Ok(());
        }
        let what = Act::UserBreakGlass;
        let edit = |stored: &mut UserBody| stored.break_glass = is_marked;
        self.edit_user(account_id, email, keep_session, actor, what, edit)
            .await
    }

    /// Removes a user, ends their sessions and revokes their invitations, which would let them in again.
    pub async fn remove_user(&self, account_id: &str, email: &str, actor: &str) -> Result<()> {
        let (item, stored) = self.core.user_by_key(account_id, email).await?;
        let (_, account) = self.core.account_item(account_id).await?;
        let mut changes = self.core.end_sessions(account_id, &item.id, None).await?;
        // The address of a person of an identity provider may be that of another user.
        if stored.subject.is_none() {
            changes.extend(self.core.withdraw_links(account_id, &stored.email).await?);
        }
        changes.push(Change::Delete {
            account: item.account.clone(),
            kind: ItemKind::User,
            id: item.id.clone(),
        });
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::UserRemove)
            .target(&public(&item, &stored).actor());
        self.core
            .change(account_id, &act, changes, false)
            .await
            .map_err(about(ItemKind::User.label()))
    }

    /// Sets a user's password and ends all their sessions except one.
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

    /// Changes a user's role, and ends their sessions.
    pub async fn set_role(
        &self,
        account_id: &str,
        email: &str,
        role: Role,
        actor: &str,
    ) -> Result<()> {
        let (item, mut stored) = self.core.user_by_key(account_id, email).await?;
        let (_, account) = self.core.account_item(account_id).await?;
        if stored.subject.is_some() {
            return Err(FROM_GROUPS);
        }
        let before = std::mem::replace(&mut stored.role, role);
        stored.break_glass &= role == Role::Owner;
        let mut changes = self.core.end_sessions(account_id, &item.id, None).await?;
        changes.push(item.replaced_by(&stored));
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::UserRole)
            .target(&stored.email)
            .change(before.code(), role.code());
        let changed = self.core.change(account_id, &act, changes, false);
        changed.await.map_err(about("user"))
    }

    /// Changes a user, ends their sessions except one, and records it.
    pub(super) async fn edit_user(
        &self,
        account_id: &str,
        email: &str,
        keep_session: Option<&str>,
        actor: &str,
        what: Act,
        edit: impl Fn(&mut UserBody),
    ) -> Result<()> {
        let (item, mut stored) = self.core.user_by_key(account_id, email).await?;
        let (_, account) = self.core.account_item(account_id).await?;
        if stored.subject.is_some() {
            return Err(NO_PASSWORD);
        }
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
            .map_err(about(ItemKind::User.label()))
    }
}

/// Roles of a person of an identity provider cannot be set.
const FROM_GROUPS: StoreError = StoreError::Invalid {
    what: "role",
    why: "it follows from the person's groups at the identity provider",
};
/// A person of an identity provider has neither password nor second factor here.
const NO_PASSWORD: StoreError = StoreError::Invalid {
    what: "user",
    why: "the person signs in with the identity provider, without a password",
};

impl UserBody {
    /// Whether the password opens an account that has single sign-on.
    pub(super) fn may_break_glass(&self) -> bool {
        self.break_glass && self.all_roles().has(Role::Owner)
    }

    /// All roles.
    pub(crate) fn all_roles(&self) -> Roles {
        match self.roles.is_empty() {
            true => self.role.into(),
            false => self.roles.iter().copied().collect(),
        }
    }
}

impl Core {
    /// Whether an account has an owner.
    pub(super) async fn has_owner(&self, account_id: &str) -> Result<bool> {
        for item in self.guard().items(account_id, ItemKind::User).await? {
            if item.read::<UserBody>()?.all_roles().has(Role::Owner) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The user with an e-mail address or an id.
    pub(super) async fn user_by_key(
        &self,
        account_id: &str,
        key: &str,
    ) -> Result<(Item, UserBody)> {
        let lookup = normal_email(key);
        let users = self.guard().items(account_id, ItemKind::User).await?;
        let is_this = |item: &Item| item.lookup.as_deref() == Some(&lookup) || item.id == key;
        let item = users.into_iter().find(is_this);
        let item = item.ok_or(StoreError::NotFound(ItemKind::User.label()))?;
        let stored = item.read()?;
        Ok((item, stored))
    }

    /// A user as stored now.
    pub(super) async fn stored_user(&self, user: &User) -> Result<(Item, UserBody)> {
        let found = self
            .guard()
            .item(&user.account_id, ItemKind::User, &user.id);
        let item = found.await?;
        let item = item.ok_or(StoreError::NotFound(ItemKind::User.label()))?;
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
        roles: stored.all_roles(),
        subject: stored.subject.clone(),
        break_glass: stored.break_glass,
        has_totp: stored.totp.is_some(),
        created: stored.created,
        last_login: stored.last_login,
    }
}

pub(super) fn normal_email(email: &str) -> String {
    email.trim().to_lowercase()
}

pub(super) fn check_email(email: &str) -> Result<()> {
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
