//! Sessions of the dashboard: a random token in a cookie; the store has only its hash.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use phigate_types::Act;
use phigate_verify::chain::{digest, hex};
use serde::{Deserialize, Serialize};

use crate::core::{Core, about};
use crate::guard::TRIES;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::{random_base62, random_id};
use crate::model::{AdminAct, NewSession, Session, SessionPolicy, User};
use crate::people::Sessions;
use crate::people::users::{UserBody, public};
use crate::{Result, SecretString, StoreError};

/// 43 base62 characters hold 256 bits.
pub(super) const TOKEN: usize = 43;
/// Resolution of the last use.
const SEEN: SignedDuration = SignedDuration::from_secs(30);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SessionBody {
    user: String,
    created: Timestamp,
    last_seen: Timestamp,
    confirmed: Timestamp,
    expires: Timestamp,
    idle_s: i64,
    origin: String,
    /// The identity provider's name of the login, which a logout token may give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_session: Option<String>,
}

/// A password does not open an account with single sign-on, unless its owner is marked.
const SIGN_ON_ONLY: StoreError = StoreError::Invalid {
    what: "login",
    why: "the account has single sign-on, and a password works only for owners marked as break-glass",
};

impl Sessions {
    /// Starts a session after a complete login with a password and records it. Refused if the account has single
    /// sign-on and the user is not marked as break-glass.
    pub async fn begin_session(
        &self,
        user: &User,
        policy: SessionPolicy,
        origin: &str,
    ) -> Result<NewSession> {
        for _ in 0..TRIES {
            match self.try_to_begin(user, policy, origin).await {
                // Another login of the same person, or of one whose session had expired, was faster.
                Err(StoreError::Conflict(_)) => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict(ItemKind::Session.label()))
    }

    async fn try_to_begin(
        &self,
        user: &User,
        policy: SessionPolicy,
        origin: &str,
    ) -> Result<NewSession> {
        let (_, account) = self.core.account_item(&user.account_id).await?;
        let (old_user, mut stored_user) = self.core.stored_user(user).await?;
        let what = match self.core.sign_on_item(&user.account_id).await? {
            None => Act::Login,
            Some(_) if stored_user.may_break_glass() => Act::LoginBreakGlass,
            Some(_) => return Err(SIGN_ON_ONLY),
        };
        let core = &self.core;
        let session = core.new_session(&user.account_id, &user.id, policy, origin, None);
        let (session, mut changes) = session.await?;
        let now = self.core.now();
        stored_user.last_login = Some(now);
        changes.push(old_user.replaced_by(&stored_user));
        let act = AdminAct::new(now, &account.name, &user.email, what)
            .target(&session.id)
            .detail("origin", origin);
        self.core
            .change(&user.account_id, &act, changes, false)
            .await
            .map_err(about(ItemKind::Session.label()))?;
        Ok(session)
    }

    /// The session of a token, if it is valid now; updates its last use.
    pub async fn session(&self, token: &str) -> Result<Option<Session>> {
        self.find_session(token, true).await
    }

    /// The session of a token, if it is valid now. Does not extend the session, so that polling by a page does not
    /// count as use.
    pub async fn peek_session(&self, token: &str) -> Result<Option<Session>> {
        self.find_session(token, false).await
    }

    async fn find_session(&self, token: &str, is_use: bool) -> Result<Option<Session>> {
        if token.len() != TOKEN {
            return Ok(None);
        }
        let Some(item) = self
            .core
            .guard()
            .find(ItemKind::Session, &token_hash(token))
            .await?
        else {
            return Ok(None);
        };
        let mut stored: SessionBody = item.read()?;
        let now = self.core.now();
        if !is_valid(&stored, now) {
            return Ok(None);
        }
        let Some(user) = self
            .core
            .guard()
            .item(&item.account, ItemKind::User, &stored.user)
            .await?
        else {
            return Ok(None);
        };
        let user = public(&user, &user.read::<UserBody>()?);
        if is_use && now.duration_since(stored.last_seen) >= SEEN {
            stored.last_seen = now;
            // If this loses against a revocation, the revocation stays in force.
            self.core
                .change_quietly(vec![item.replaced_by(&stored)])
                .await?;
        }
        Ok(Some(session(&item, user, &stored)))
    }

    /// Notes that the user proved a factor again in this session.
    pub async fn confirm_session(&self, session: &Session) -> Result<()> {
        let (item, mut stored) = self
            .session_item(&session.user.account_id, &session.id)
            .await?;
        stored.confirmed = self.core.now();
        if self
            .core
            .change_quietly(vec![item.replaced_by(&stored)])
            .await?
        {
            Ok(())
        } else {
            Err(StoreError::Conflict(ItemKind::Session.label()))
        }
    }

    /// The valid sessions of a user, newest first.
    pub async fn sessions(&self, user: &User) -> Result<Vec<Session>> {
        let now = self.core.now();
        let mut sessions = Vec::new();
        for item in self
            .core
            .guard()
            .items(&user.account_id, ItemKind::Session)
            .await?
        {
            let stored: SessionBody = item.read()?;
            if stored.user == user.id && is_valid(&stored, now) {
                sessions.push(session(&item, user.clone(), &stored));
            }
        }
        sessions.sort_by_key(|session| std::cmp::Reverse(session.created));
        Ok(sessions)
    }

    /// The valid sessions of an account with their users, newest first.
    pub async fn all_sessions(&self, account_id: &str) -> Result<Vec<Session>> {
        let guard = self.core.guard();
        let mut users = HashMap::new();
        for item in guard.items(account_id, ItemKind::User).await? {
            let user = public(&item, &item.read::<UserBody>()?);
            users.insert(user.id.clone(), user);
        }
        let now = self.core.now();
        let mut sessions = Vec::new();
        for item in guard.items(account_id, ItemKind::Session).await? {
            let stored: SessionBody = item.read()?;
            if let Some(user) = users.get(&stored.user).filter(|_| is_valid(&stored, now)) {
                sessions.push(session(&item, user.clone(), &stored));
            }
        }
        sessions.sort_by_key(|session| std::cmp::Reverse(session.created));
        Ok(sessions)
    }

    /// Ends a session; every later lookup fails.
    pub async fn end_session(&self, account_id: &str, session_id: &str, actor: &str) -> Result<()> {
        let (item, _) = self.session_item(account_id, session_id).await?;
        let (_, account) = self.core.account_item(account_id).await?;
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::SessionEnd)
            .target(session_id);
        self.core
            .change(account_id, &act, vec![item.deleted()], false)
            .await
            .map_err(about(ItemKind::Session.label()))
    }

    async fn session_item(&self, account_id: &str, id: &str) -> Result<(Item, SessionBody)> {
        let item = self
            .core
            .guard()
            .item(account_id, ItemKind::Session, id)
            .await?
            .ok_or(StoreError::NotFound(ItemKind::Session.label()))?;
        let stored = item.read()?;
        Ok((item, stored))
    }
}

impl Core {
    /// A new session, and the changes that store it and delete expired ones.
    pub(super) async fn new_session(
        &self,
        account_id: &str,
        user_id: &str,
        policy: SessionPolicy,
        origin: &str,
        provider_session: Option<String>,
    ) -> Result<(NewSession, Vec<Change>)> {
        let (now, id, token) = (self.now(), random_id(12), random_base62(TOKEN));
        let expires = self.expiry(Some(policy.absolute))?.unwrap_or(now);
        let stored = SessionBody {
            user: user_id.to_owned(),
            created: now,
            last_seen: now,
            confirmed: now,
            expires,
            idle_s: policy.idle.as_secs(),
            origin: origin.to_owned(),
            provider_session,
        };
        let lookup = token_hash(&token);
        let item = Item::new(account_id, ItemKind::Session, &id, Some(&lookup), &stored);
        let mut changes = self.stale_sessions(account_id).await?;
        changes.push(Change::Put(item, Expect::Absent));
        let session = NewSession {
            id,
            token: SecretString::new(token),
            expires,
        };
        Ok((session, changes))
    }

    /// The changes that delete expired sessions.
    async fn stale_sessions(&self, account_id: &str) -> Result<Vec<Change>> {
        let now = self.now();
        let mut changes = Vec::new();
        for item in self.guard().items(account_id, ItemKind::Session).await? {
            if !is_valid(&item.read()?, now) {
                changes.push(item.deleted());
            }
        }
        Ok(changes)
    }

    /// The changes that end the sessions that came from the identity provider with this name, of some users.
    pub(super) async fn end_provider_sessions(
        &self,
        account_id: &str,
        users: &[String],
        provider_session: Option<&str>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for item in self.guard().items(account_id, ItemKind::Session).await? {
            let stored: SessionBody = item.read()?;
            let is_named = provider_session.is_none()
                || stored.provider_session.as_deref() == provider_session;
            if is_named && users.contains(&stored.user) {
                changes.push(item.deleted());
            }
        }
        Ok(changes)
    }

    /// The changes that end a user's sessions.
    pub(super) async fn end_sessions(
        &self,
        account_id: &str,
        user_id: &str,
        keep: Option<&str>,
    ) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for item in self.guard().items(account_id, ItemKind::Session).await? {
            let stored: SessionBody = item.read()?;
            if stored.user == user_id && keep != Some(item.id.as_str()) {
                changes.push(item.deleted());
            }
        }
        Ok(changes)
    }
}

/// The hash of a random token. With 256 bits it needs neither key nor salt.
pub(super) fn token_hash(token: &str) -> String {
    hex(&digest(b"phigate token v1", &[token.as_bytes()]))
}

fn is_valid(stored: &SessionBody, now: Timestamp) -> bool {
    now < stored.expires && now.duration_since(stored.last_seen).as_secs() < stored.idle_s
}

fn session(item: &Item, user: User, stored: &SessionBody) -> Session {
    Session {
        id: item.id.clone(),
        user,
        created: stored.created,
        last_seen: stored.last_seen,
        confirmed: stored.confirmed,
        expires: stored.expires,
        origin: stored.origin.clone(),
    }
}
