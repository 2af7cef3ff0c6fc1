//! Single sign-on: the identity provider of an account, and the people who come from it.
//!
//! A person is the pair of issuer and subject, within one account. The e-mail address is shown and proves nothing.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use phigate_types::{Act, Role, Roles};
use phigate_verify::chain::{digest, hex};
use serde::{Deserialize, Serialize};

use crate::core::{Core, about};
use crate::guard::TRIES;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{
    AdminAct, SessionPolicy, SignOnConfig, SignOnInfo, SignOnOutcome, SignOnPerson, SignOnSetup,
    SignOut, Subject, User,
};
use crate::people::users::{UserBody, check_email, public};
use crate::{Result, SecretString, StoreError};

/// Id of the entry: an account has one.
const ID: &str = "sso";
/// Time for which used logout tokens are remembered; older ones are refused by their age.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(1);

/// An entry as stored.
#[derive(Serialize, Deserialize)]
struct SignOnBody {
    #[serde(flatten)]
    config: SignOnConfig,
    #[serde(default)]
    sealed: Option<String>,
    updated: Timestamp,
    updated_by: String,
}

#[derive(Serialize, Deserialize)]
struct UsedBody {
    used: Timestamp,
}

/// Single sign-on: identity providers of accounts, and the people who come from them.
#[derive(Clone)]
pub struct SignOn {
    core: Arc<Core>,
}

impl SignOn {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Sets single sign-on of an account. Without a new secret the stored one stays, as long as it is for the same
    /// issuer and client. If roles could differ, the sessions of all people of the provider end.
    pub async fn set(
        &self,
        account_id: &str,
        config: &SignOnConfig,
        secret: Option<&SecretString>,
        actor: &str,
    ) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let old = self.core.sign_on_item(account_id).await?;
        let before: Option<SignOnBody> = old.as_ref().map(Item::read).transpose()?;
        let is_same_client = |before: &&SignOnBody| {
            (&before.config.issuer, &before.config.client_id) == (&config.issuer, &config.client_id)
        };
        let kept = before.as_ref().filter(is_same_client);
        let sealed = match (secret, kept) {
            (Some(secret), _) => Some(self.seal(account_id, config, secret).await?),
            (None, Some(kept)) => kept.sealed.clone(),
            (None, None) => None,
        };
        let word = match (secret, &sealed) {
            (Some(_), _) => "new",
            (None, Some(_)) => "kept",
            (None, None) => "none",
        };
        let mut changes = Vec::new();
        if before
            .as_ref()
            .is_some_and(|before| before.config != *config)
        {
            changes = self.end_all(account_id).await?;
        }
        let mut act = AdminAct::new(self.core.now(), &account.name, actor, Act::SsoSet)
            .target(&config.issuer)
            .detail("client", &config.client_id)
            .detail("secret", word)
            .detail("groups_claim", &config.groups_claim)
            .detail("sessions ended", &changes.len());
        let roles: Vec<String> = config.role.iter().map(ToString::to_string).collect();
        act = act.detail("roles", &roles.join("; "));
        if let Some(acr) = &config.require_acr {
            act = act.detail("acr", acr);
        }
        let stored = SignOnBody {
            config: config.clone(),
            sealed,
            updated: self.core.now(),
            updated_by: actor.to_owned(),
        };
        changes.push(match &old {
            Some(old) => old.replaced_by(&stored),
            None => {
                let item = Item::new(account_id, ItemKind::SignOn, ID, None, &stored);
                Change::Put(item, Expect::Absent)
            }
        });
        let changed = self.core.change(account_id, &act, changes, true).await;
        changed.map_err(about(ItemKind::SignOn.label()))
    }

    /// Turns single sign-on of an account off: the sessions of the people of its provider end, and passwords work again.
    pub async fn remove(&self, account_id: &str, actor: &str) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let item = self.core.sign_on_item(account_id).await?;
        let item = item.ok_or(StoreError::NotFound(ItemKind::SignOn.label()))?;
        let stored: SignOnBody = item.read()?;
        let mut changes = self.end_all(account_id).await?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::SsoRemove)
            .target(&stored.config.issuer)
            .detail("sessions ended", &changes.len());
        changes.push(item.deleted());
        let changed = self.core.change(account_id, &act, changes, true).await;
        changed.map_err(about(ItemKind::SignOn.label()))
    }

    /// Single sign-on of an account, without the secret.
    pub async fn info(&self, account_id: &str) -> Result<Option<SignOnInfo>> {
        let Some(item) = self.core.sign_on_item(account_id).await? else {
            return Ok(None);
        };
        let stored: SignOnBody = item.read()?;
        Ok(Some(SignOnInfo {
            config: stored.config,
            has_secret: stored.sealed.is_some(),
            updated: stored.updated,
            updated_by: stored.updated_by,
        }))
    }

    /// Single sign-on of an account, with its secret.
    pub async fn setup(&self, account_id: &str) -> Result<Option<SignOnSetup>> {
        let Some(item) = self.core.sign_on_item(account_id).await? else {
            return Ok(None);
        };
        let stored: SignOnBody = item.read()?;
        let secret = match &stored.sealed {
            Some(sealed) => Some(self.unseal(account_id, &stored.config, sealed).await?),
            None => None,
        };
        Ok(Some(SignOnSetup {
            account_id: item.account,
            config: stored.config,
            secret,
        }))
    }

    /// Ids of the accounts that have single sign-on.
    pub async fn accounts(&self) -> Result<Vec<String>> {
        let items = self.core.guard().items_of_all(ItemKind::SignOn).await?;
        Ok(items.into_iter().map(|item| item.account).collect())
    }

    /// Begins a session for a person whose token was verified, with the roles of their groups. Roles are those of the
    /// last login for all sessions of the person. A person without any loses the other sessions too.
    pub async fn enter(
        &self,
        setup: &SignOnSetup,
        person: &SignOnPerson,
        policy: SessionPolicy,
        origin: &str,
    ) -> Result<SignOnOutcome> {
        for _ in 0..TRIES {
            match self.try_to_enter(setup, person, policy, origin).await {
                // Another login of the same person was faster.
                Err(StoreError::Conflict(_)) => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict(ItemKind::Session.label()))
    }

    async fn try_to_enter(
        &self,
        setup: &SignOnSetup,
        person: &SignOnPerson,
        policy: SessionPolicy,
        origin: &str,
    ) -> Result<SignOnOutcome> {
        let (account_id, core) = (&setup.account_id, &self.core);
        // Turned off or changed since the login began: the roles are those of now, or there is no entry.
        let now_set = core.sign_on_item(account_id).await?;
        let now_set = now_set.ok_or(StoreError::NotFound(ItemKind::SignOn.label()))?;
        let config = now_set.read::<SignOnBody>()?.config;
        let known = lookup(account_id, &person.subject);
        let known = core.guard().find(ItemKind::User, &known).await?;
        let roles = match config.issuer == person.subject.issuer {
            true => config.roles_of(&person.groups),
            false => Roles::default(),
        };
        let (_, account) = core.account_item(account_id).await?;
        let actor = person.subject.to_string();
        let act =
            |what| AdminAct::new(core.now(), &account.name, &actor, what).detail("origin", origin);
        if roles.is_empty() {
            let ended = match &known {
                Some(item) => core.end_sessions(account_id, &item.id, None).await?,
                None => Vec::new(),
            };
            let act = act(Act::LoginFailed)
                .detail("cause", person.without_role)
                .detail("sessions ended", &ended.len());
            core.change(account_id, &act, ended, false).await?;
            return Ok(SignOnOutcome::NoRole);
        }
        let (put, user) = self.with_roles(setup, person, known, roles)?;
        let name = person.session.clone();
        let session = core.new_session(account_id, &user.id, policy, origin, name);
        let (session, mut changes) = session.await?;
        let act = act(Act::Login)
            .target(&session.id)
            .detail("roles", &roles.codes())
            .detail("e-mail", &user.email);
        changes.push(put);
        changes.push(now_set.unchanged());
        core.change(account_id, &act, changes, false).await?;
        Ok(SignOnOutcome::Entered(Box::new(user), session))
    }

    /// The change that gives a person the roles of a login, and makes a person who comes for the first time.
    fn with_roles(
        &self,
        setup: &SignOnSetup,
        person: &SignOnPerson,
        known: Option<Item>,
        roles: Roles,
    ) -> Result<(Change, User)> {
        let now = self.core.now();
        let mut stored = match &known {
            Some(item) => item.read()?,
            None => fresh(person, now),
        };
        stored.role = roles.first();
        stored.roles = roles.iter().collect();
        stored.email = readable(&person.email);
        stored.last_login = Some(now);
        Ok(match known {
            Some(item) => (item.replaced_by(&stored), public(&item, &stored)),
            None => {
                let (id, account_id) = (random_id(12), &setup.account_id);
                let lookup = lookup(account_id, &person.subject);
                let item = Item::new(account_id, ItemKind::User, &id, Some(&lookup), &stored);
                let user = public(&item, &stored);
                (Change::Put(item, Expect::Absent), user)
            }
        })
    }

    /// Ends the sessions that a verified logout token names, on every replica. False if the token was used before.
    pub async fn sign_out(&self, account_id: &str, token: &SignOut) -> Result<bool> {
        let core = &self.core;
        let (_, account) = core.account_item(account_id).await?;
        let mut users = Vec::new();
        for item in core.guard().items(account_id, ItemKind::User).await? {
            let stored: UserBody = item.read()?;
            let is_meant = |subject: &Subject| {
                let is_named = token.sub.as_ref().is_none_or(|sub| *sub == subject.sub);
                subject.issuer == token.issuer && is_named
            };
            if stored.subject.as_ref().is_some_and(is_meant) {
                users.push(item.id);
            }
        }
        let named = token.session.as_deref();
        let ended = core
            .end_provider_sessions(account_id, &users, named)
            .await?;
        let mut changes = self.used(account_id, &token.token_id).await?;
        let actor = match &token.sub {
            Some(sub) => format!("{sub} at {}", token.issuer),
            None => token.issuer.clone(),
        };
        let act = AdminAct::new(core.now(), &account.name, &actor, Act::SessionEndAll)
            .detail("by", "identity provider")
            .detail("sessions ended", &ended.len());
        let is_noted = !ended.is_empty();
        changes.extend(ended);
        let changed = match is_noted {
            true => core.change(account_id, &act, changes, false).await,
            false => match core.change_quietly(changes).await? {
                true => Ok(()),
                false => Err(StoreError::Conflict(ItemKind::UsedToken.label())),
            },
        };
        match changed {
            Ok(()) => Ok(true),
            Err(StoreError::Conflict(_)) if self.was_used(account_id, &token.token_id).await? => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Records a login that failed before the person was known.
    pub async fn record_failure(
        &self,
        account_id: &str,
        issuer: &str,
        cause: &str,
        origin: &str,
    ) -> Result<()> {
        let name = self.core.guard().account_name(account_id).await?;
        let act = AdminAct::new(self.core.now(), &name, "anonymous", Act::LoginFailed)
            .detail("cause", cause)
            .detail("issuer", issuer)
            .detail("origin", origin);
        self.core.record_act(Some(account_id), &act).await
    }

    /// The changes that remember a used token and forget old ones.
    async fn used(&self, account_id: &str, token_id: &str) -> Result<Vec<Change>> {
        let now = self.core.now();
        let mut changes = Vec::new();
        let known = self.core.guard().items(account_id, ItemKind::UsedToken);
        for item in known.await? {
            let stored: UsedBody = item.read()?;
            if now.duration_since(stored.used) > REMEMBERED {
                changes.push(item.deleted());
            }
        }
        let (id, stored) = (used_id(token_id), UsedBody { used: now });
        let item = Item::new(account_id, ItemKind::UsedToken, &id, None, &stored);
        changes.push(Change::Put(item, Expect::Absent));
        Ok(changes)
    }

    async fn was_used(&self, account_id: &str, token_id: &str) -> Result<bool> {
        let id = used_id(token_id);
        let guard = self.core.guard();
        let found = guard.item(account_id, ItemKind::UsedToken, &id).await?;
        Ok(found.is_some())
    }

    /// The changes that end the sessions of all people of identity providers.
    async fn end_all(&self, account_id: &str) -> Result<Vec<Change>> {
        let users = self.core.guard().items(account_id, ItemKind::User).await?;
        let mut provided = Vec::new();
        for item in users {
            if item.read::<UserBody>()?.subject.is_some() {
                provided.push(item.id);
            }
        }
        self.core
            .end_provider_sessions(account_id, &provided, None)
            .await
    }

    async fn seal(
        &self,
        account_id: &str,
        config: &SignOnConfig,
        secret: &SecretString,
    ) -> Result<String> {
        let field = field(config);
        let place = place(account_id, &field);
        let (now, bytes) = (self.core.now(), secret.expose().as_bytes());
        let sealed = self.core.keyring.seal(Purpose::Secrets, now, place, bytes);
        Ok(STANDARD.encode(sealed.await?))
    }

    async fn unseal(
        &self,
        account_id: &str,
        config: &SignOnConfig,
        sealed: &str,
    ) -> Result<SecretString> {
        let unreadable = || StoreError::Unreadable("client secret");
        let sealed = STANDARD.decode(sealed).map_err(|_| unreadable())?;
        let field = field(config);
        let place = place(account_id, &field);
        let opened = self.core.keyring.unseal(place, &sealed).await?;
        let secret = std::str::from_utf8(opened.expose()).map_err(|_| unreadable())?;
        Ok(SecretString::from(secret))
    }
}

impl Core {
    /// The entry of an account that has single sign-on.
    pub(super) async fn sign_on_item(&self, account_id: &str) -> Result<Option<Item>> {
        self.guard().item(account_id, ItemKind::SignOn, ID).await
    }
}

/// A person who comes for the first time.
fn fresh(person: &SignOnPerson, now: Timestamp) -> UserBody {
    UserBody {
        email: String::new(),
        role: Role::Viewer,
        roles: Vec::new(),
        subject: Some(person.subject.clone()),
        break_glass: false,
        password: String::new(),
        totp: None,
        totp_step: 0,
        recovery: Vec::new(),
        created: now,
        last_login: None,
    }
}

/// The address that a provider gives, if it is one.
fn readable(email: &str) -> String {
    match check_email(email) {
        Ok(()) => email.to_owned(),
        Err(_) => String::new(),
    }
}

/// Lookup value of a person.
fn lookup(account_id: &str, subject: &Subject) -> String {
    let parts = [account_id, &subject.issuer, &subject.sub].map(str::as_bytes);
    format!("sso:{}", hex(&digest(b"sign-on subject", &parts)))
}

fn used_id(token_id: &str) -> String {
    hex(&digest(b"logout token", &[token_id.as_bytes()]))
}

/// A secret opens only beside the issuer and client that it was given for.
fn field(config: &SignOnConfig) -> String {
    serde_json::json!(["client secret", config.issuer, config.client_id]).to_string()
}

fn place<'a>(account: &'a str, field: &'a str) -> Place<'a> {
    Place {
        account,
        table: ItemKind::SignOn.code(),
        record: ID,
        field,
    }
}
