//! Keys of the admin API: made, listed, revoked, admitted.
//!
//! A key belongs to one account and has a role in it. It is stored like an API key: as a keyed hash.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::{Act, Role};
use serde::{Deserialize, Serialize};

use super::api_keys::check_name;
use crate::core::{Core, about};
use crate::error::AdmitError;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::api_key;
use crate::model::{AdminAct, AdminAdmission, AdminKeyInfo, NewAdminKey, NewApiKey};
use crate::{Result, StoreError};

/// A key as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AdminKeyBody {
    name: String,
    role: Role,
    /// Whether the key may also create, list and delete accounts.
    #[serde(default)]
    installation: bool,
    hash: String,
    created: Timestamp,
    created_by: String,
    expires: Option<Timestamp>,
    revoked: Option<Timestamp>,
}

/// Keys of the admin API.
#[derive(Clone)]
pub struct AdminKeys {
    core: Arc<Core>,
}

impl AdminKeys {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Makes a key. Its text is in the result and nowhere else.
    pub async fn create(
        &self,
        account_id: &str,
        new: &NewAdminKey<'_>,
        actor: &str,
    ) -> Result<NewApiKey> {
        let (_, account) = self.core.account_item(account_id).await?;
        check_name(new.name)?;
        let (id, key) = api_key::generate(api_key::ADMIN);
        let expires = self.core.expiry(new.valid)?;
        let stored = AdminKeyBody {
            name: new.name.to_owned(),
            role: new.role,
            installation: new.installation,
            hash: STANDARD.encode(api_key::hash(&self.core.keyring.root.pepper, key.expose())),
            created: self.core.now(),
            created_by: actor.to_owned(),
            expires,
            revoked: None,
        };
        let item = Item::new(account_id, ItemKind::AdminKey, &id, Some(&id), &stored);
        let mut act = AdminAct::new(self.core.now(), &account.name, actor, Act::AdminKeyCreate)
            .target(&id)
            .detail("name", new.name)
            .detail("role", new.role.code());
        if new.installation {
            act = act.detail("installation", &true);
        }
        let put = vec![Change::Put(item, Expect::Absent)];
        let changed = self.core.change(account_id, &act, put, false);
        changed.await.map_err(about(ItemKind::AdminKey.label()))?;
        Ok(NewApiKey { id, key, expires })
    }

    /// All admin keys of an account, newest first.
    pub async fn list(&self, account_id: &str) -> Result<Vec<AdminKeyInfo>> {
        let store = &self.core.store;
        let used = store.items(Some(account_id), ItemKind::ApiKeyUsed).await?;
        let used: HashMap<String, i64> = used
            .into_iter()
            .filter_map(|item| Some((item.id, item.body.parse().ok()?)))
            .collect();
        let items = self.core.guard().items(account_id, ItemKind::AdminKey);
        let mut keys = Vec::new();
        for item in items.await? {
            let stored: AdminKeyBody = item.read()?;
            let last_used = used.get(&item.id).copied();
            keys.push(AdminKeyInfo {
                id: item.id,
                name: stored.name,
                role: stored.role,
                installation: stored.installation,
                created: stored.created,
                created_by: stored.created_by,
                expires: stored.expires,
                revoked: stored.revoked,
                last_used: last_used.and_then(|time_us| Timestamp::from_microsecond(time_us).ok()),
            });
        }
        keys.sort_by_key(|key| std::cmp::Reverse(key.created));
        Ok(keys)
    }

    /// Revokes a key; when this returns, no later call is admitted with it.
    pub async fn revoke(&self, account_id: &str, key_id: &str, actor: &str) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let guard = self.core.guard();
        let item = guard.item(account_id, ItemKind::AdminKey, key_id).await?;
        let item = item.ok_or(StoreError::NotFound(ItemKind::AdminKey.label()))?;
        let mut stored: AdminKeyBody = item.read()?;
        if stored.revoked.is_some() {
            return Ok(());
        }
        stored.revoked = Some(self.core.now());
        let act = AdminAct::new(self.core.now(), &account.name, actor, Act::AdminKeyRevoke)
            .target(key_id);
        let change = vec![item.replaced_by(&stored)];
        let changed = self.core.change(account_id, &act, change, false);
        changed.await.map_err(about(ItemKind::AdminKey.label()))
    }

    /// Admits a call with this key, or says why not. The store is asked for each call, so that a revoked key is refused
    /// on every replica from the next call on.
    pub async fn admit(&self, key: &str) -> Result<AdminAdmission, AdmitError> {
        let key_id = api_key::public_id(api_key::ADMIN, key)?.to_owned();
        let found = self.core.guard().find(ItemKind::AdminKey, &key_id).await?;
        let item = found.ok_or(AdmitError::Unknown)?;
        let stored: AdminKeyBody = item.read()?;
        let account_id = item.account;
        let hash = STANDARD.decode(&stored.hash).unwrap_or_default();
        if !api_key::matches(&self.core.keyring.root.pepper, key, &hash) {
            return Err(AdmitError::WrongSecret { key_id, account_id });
        }
        let now = self.core.now();
        if stored.revoked.is_some() {
            return Err(AdmitError::Revoked { key_id, account_id });
        }
        if stored.expires.is_some_and(|expires| expires <= now) {
            return Err(AdmitError::Expired { key_id, account_id });
        }
        let (_, account) = match self.core.account_item(&account_id).await {
            Err(StoreError::NotFound(_)) => return Err(AdmitError::Unknown),
            found => found?,
        };
        let used = &self.core.writer.used;
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(key_id.clone(), (account_id.clone(), now.as_microsecond()));
        Ok(AdminAdmission {
            key_id,
            role: stored.role,
            installation: stored.installation,
            account_id,
            account: account.name,
        })
    }
}
