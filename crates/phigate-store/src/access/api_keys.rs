//! API keys: made, listed, revoked, rotated.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use phigate_types::{Act, Words};
use smol_str::SmolStr;

use crate::access::Access;
use crate::accounts::check_group;
use crate::core::about;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::api_key;
use crate::model::{AdminAct, ApiKeyInfo, KeyBody, KeyWords, NewApiKey};
use crate::{Result, StoreError};

/// The longest name of a key, in characters.
pub const KEY_NAME_CHARS_MAX: usize = 80;

impl Access {
    /// Makes a key. Its text is in the result and nowhere else.
    pub async fn create_api_key(
        &self,
        account_id: &str,
        name: &str,
        valid: Option<SignedDuration>,
        actor: &str,
    ) -> Result<NewApiKey> {
        self.create_api_key_in(account_id, None, name, valid, actor)
            .await
    }

    /// Makes a key in a group.
    pub async fn create_api_key_in(
        &self,
        account_id: &str,
        group: Option<&str>,
        name: &str,
        valid: Option<SignedDuration>,
        actor: &str,
    ) -> Result<NewApiKey> {
        let (_, account) = self.core.account_item(account_id).await?;
        check_name(name)?;
        group.map_or(Ok(()), check_group)?;
        let expires = self.core.expiry(valid)?;
        let words = KeyWords {
            group: group.map(SmolStr::from),
            policy: Words::new(),
        };
        let (new, put) = self.new_key(account_id, name, expires, words, actor)?;
        let mut act = AdminAct::new(self.core.now(), &account.name, actor, Act::KeyCreate)
            .target(&new.id)
            .detail("name", name);
        if let Some(group) = group {
            act = act.detail("group", group);
        }
        self.core
            .change(account_id, &act, vec![put], true)
            .await
            .map_err(about(ItemKind::ApiKey.label()))?;
        Ok(new)
    }

    /// All keys of an account, newest first.
    pub async fn api_keys(&self, account_id: &str) -> Result<Vec<ApiKeyInfo>> {
        let used = self
            .core
            .store
            .items(Some(account_id), ItemKind::ApiKeyUsed);
        let used = used.await?.into_iter().map(|item| (item.id.clone(), item));
        let used: HashMap<String, Item> = used.collect();
        let mut keys = Vec::new();
        for item in self
            .core
            .guard()
            .items(account_id, ItemKind::ApiKey)
            .await?
        {
            let stored: KeyBody = item.read()?;
            let last_used = used.get(&item.id).and_then(|used| used.body.parse().ok());
            keys.push(ApiKeyInfo {
                id: item.id,
                name: stored.name,
                created: stored.created,
                created_by: stored.created_by,
                expires: stored.expires,
                revoked: stored.revoked,
                last_used: last_used.and_then(|time_us| Timestamp::from_microsecond(time_us).ok()),
                rotated_to: stored.rotated_to,
                group: stored.words.group.map(String::from),
            });
        }
        keys.sort_by_key(|key| std::cmp::Reverse(key.created));
        Ok(keys)
    }

    /// Revokes a key; when this returns, no later call is admitted with it.
    pub async fn revoke_api_key(&self, account_id: &str, key_id: &str, actor: &str) -> Result<()> {
        let (_, account) = self.core.account_item(account_id).await?;
        let (old, mut stored) = self.key_item(account_id, key_id).await?;
        if stored.revoked.is_some() {
            return Ok(());
        }
        stored.revoked = Some(self.core.now());
        let act =
            AdminAct::new(self.core.now(), &account.name, actor, Act::KeyRevoke).target(key_id);
        self.core
            .change(account_id, &act, vec![old.replaced_by(&stored)], true)
            .await
            .map_err(about(ItemKind::ApiKey.label()))
    }

    /// Makes a key in place of another, which stays valid for `overlap`.
    pub async fn rotate_api_key(
        &self,
        account_id: &str,
        key_id: &str,
        overlap: SignedDuration,
        actor: &str,
    ) -> Result<NewApiKey> {
        let (_, account) = self.core.account_item(account_id).await?;
        let (old, mut stored) = self.key_item(account_id, key_id).await?;
        let now = self.core.now();
        if stored.revoked.is_some() || stored.expires.is_some_and(|expires| expires <= now) {
            return Err(StoreError::Invalid {
                what: ItemKind::ApiKey.label(),
                why: "it was revoked or has expired",
            });
        }
        let lifetime = stored
            .expires
            .map(|expires| expires.duration_since(stored.created));
        let (name, expires) = (&stored.name, self.core.expiry(lifetime)?);
        let (new, put) = self.new_key(account_id, name, expires, stored.words.clone(), actor)?;
        let end = self.core.expiry(Some(overlap))?;
        stored.expires = stored.expires.min(end).or(end);
        stored.rotated_to = Some(new.id.clone());
        let act = AdminAct::new(now, &account.name, actor, Act::KeyRotate)
            .target(key_id)
            .change(key_id, &new.id);
        self.core
            .change(account_id, &act, vec![put, old.replaced_by(&stored)], true)
            .await
            .map_err(about(ItemKind::ApiKey.label()))?;
        Ok(new)
    }

    fn new_key(
        &self,
        account_id: &str,
        name: &str,
        expires: Option<Timestamp>,
        words: KeyWords,
        actor: &str,
    ) -> Result<(NewApiKey, Change)> {
        let (id, key) = api_key::generate(api_key::CALLER);
        let stored = KeyBody {
            name: name.to_owned(),
            hash: STANDARD.encode(api_key::hash(&self.core.keyring.root.pepper, key.expose())),
            created: self.core.now(),
            created_by: actor.to_owned(),
            expires,
            revoked: None,
            rotated_to: None,
            words,
        };
        let put = Change::Put(
            Item::new(account_id, ItemKind::ApiKey, &id, Some(&id), &stored),
            Expect::Absent,
        );
        Ok((NewApiKey { id, key, expires }, put))
    }

    async fn key_item(&self, account_id: &str, key_id: &str) -> Result<(Item, KeyBody)> {
        let item = self
            .core
            .guard()
            .item(account_id, ItemKind::ApiKey, key_id)
            .await?
            .ok_or(StoreError::NotFound(ItemKind::ApiKey.label()))?;
        let stored = item.read()?;
        Ok((item, stored))
    }
}

/// Names are printed in lists and drawn in terminals.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_short = name.chars().count() <= KEY_NAME_CHARS_MAX;
    if is_short && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(StoreError::Invalid {
        what: "key name",
        why: "at most 80 characters, and no control characters",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_a_line() {
        for (name, is_taken) in [
            (String::new(), true),
            ("é".repeat(KEY_NAME_CHARS_MAX), true),
            ("x".repeat(KEY_NAME_CHARS_MAX + 1), false),
            ("two\nlines".to_owned(), false),
        ] {
            assert_eq!(check_name(&name).is_ok(), is_taken, "{name:?}");
        }
        let refusal = check_name("\t").unwrap_err().to_string();
        assert!(
            refusal.contains(&KEY_NAME_CHARS_MAX.to_string()),
            "{refusal}"
        );
    }
}
