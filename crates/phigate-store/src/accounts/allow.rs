//! Allow list of an account: values that are not counted as PHI.
//!
//! A value is stored sealed and as a keyed code, by which texts are compared. It is neither listed nor recorded.

use std::collections::{BTreeMap, HashMap};
use std::sync::PoisonError;

use aws_lc_rs::cmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::accounts::Accounts;
use crate::codes::{short_code, short_key, sign};
use crate::core::Core;
use crate::item::ItemKind;
use crate::keys::random_id;
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{AllowInfo, AllowedValues, By};
use crate::{Result, SecretString, StoreError};

use super::policy::marked;

/// Limit of entries per account.
const ENTRIES_MAX: usize = 1000;

/// Words for an entry in messages.
const ENTRY: &str = "entry of the allow list";

/// An entry as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AllowBody {
    id: SmolStr,
    kind: SmolStr,
    /// Keyed code of kind and value.
    code: String,
    /// The value.
    sealed: String,
    reason: String,
    added: Timestamp,
    added_by: String,
}

impl AllowBody {
    /// Keyed code of the value, and its kind.
    pub(crate) fn hashed(&self) -> (String, SmolStr) {
        (self.code.clone(), self.kind.clone())
    }
}

/// Uses of an entry, as stored: values let through, and the time of the last in microseconds.
type Uses = (u64, i64);

/// Allow lists of accounts.
#[derive(Clone)]
pub struct AllowLists {
    accounts: Accounts,
}

impl AllowLists {
    pub(crate) fn new(accounts: Accounts) -> Self {
        Self { accounts }
    }

    /// Stops counting a value as PHI, for every call that starts after the return. The value comes in the form in which
    /// findings are compared. Returns the id of the entry.
    pub async fn add<'a>(
        &self,
        account_id: &str,
        kind: &str,
        value: &SecretString,
        by: impl Into<By<'a>>,
    ) -> Result<SmolStr> {
        let core = &self.accounts.core;
        let (now, by) = (core.now(), by.into());
        let id = SmolStr::from(random_id(8));
        let key = core.allow_key(account_id);
        let code = short_code(&key, &[kind, value.expose()]);
        let place = Place {
            account: account_id,
            table: ItemKind::Account.code(),
            record: &id,
            field: "allowed value",
        };
        let bytes = value.expose().as_bytes();
        let keyring = &core.keyring;
        let sealed = keyring.seal(Purpose::Secrets, now, place, bytes).await?;
        let entry = AllowBody {
            id: id.clone(),
            kind: kind.into(),
            code: STANDARD.encode(code),
            sealed: STANDARD.encode(sealed),
            reason: by.reason.unwrap_or_default().to_owned(),
            added: now,
            added_by: by.actor.to_owned(),
        };
        self.accounts
            .edit_account(account_id, |stored| {
                if stored.allowed.iter().any(|one| one.code == entry.code) {
                    return Err(StoreError::Invalid {
                        what: ENTRY,
                        why: "this value is allowed already",
                    });
                }
                if stored.allowed.len() >= ENTRIES_MAX {
                    return Err(StoreError::Invalid {
                        what: "allow list",
                        why: "it has 1000 entries, and cannot have more",
                    });
                }
                stored.allowed.push(entry.clone());
                let act = by.act(now, &stored.name, Act::AllowAdd).target(&id);
                Ok(Some(marked(act.detail("kind", kind), true)))
            })
            .await?;
        Ok(id)
    }

    /// Removes an entry: its value counts as PHI again, for every call that starts after the return.
    pub async fn remove<'a>(
        &self,
        account_id: &str,
        id: &str,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let (now, by) = (self.accounts.core.now(), by.into());
        self.accounts
            .edit_account(account_id, |stored| {
                let at = stored.allowed.iter().position(|one| one.id == id);
                let entry = stored
                    .allowed
                    .remove(at.ok_or(StoreError::NotFound(ENTRY))?);
                let act = by.act(now, &stored.name, Act::AllowRemove).target(id);
                Ok(Some(act.detail("kind", &entry.kind)))
            })
            .await
    }

    /// The entries of an account, in the order of their addition, without their values.
    pub async fn entries(&self, account_id: &str) -> Result<Vec<AllowInfo>> {
        let core = &self.accounts.core;
        let (_, stored) = core.account_item(account_id).await?;
        let store = &core.store;
        let used = store.items(Some(account_id), ItemKind::AllowUsed).await?;
        let used: HashMap<String, Uses> = used
            .iter()
            .filter_map(|item| Some((item.id.clone(), item.read().ok()?)))
            .collect();
        let info = |entry: AllowBody| {
            let uses = used.get(entry.id.as_str()).copied();
            let (hits, last_us) = uses.unwrap_or_default();
            AllowInfo {
                id: entry.id,
                kind: entry.kind,
                reason: entry.reason,
                hits,
                last_used: uses.and_then(|_| Timestamp::from_microsecond(last_us).ok()),
                added: entry.added,
                added_by: entry.added_by,
            }
        };
        Ok(stored.allowed.into_iter().map(info).collect())
    }

    /// Remembers uses of entries for the next heartbeat.
    pub fn note_uses(&self, account_id: &str, uses: &BTreeMap<SmolStr, u64>) {
        if uses.is_empty() {
            return;
        }
        let core = &self.accounts.core;
        let now_us = core.now().as_microsecond();
        let allowed = &core.writer.allowed;
        let mut noted = allowed.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, count) in uses {
            let place = (account_id.to_owned(), id.clone());
            let (hits, last_us) = noted.entry(place).or_default();
            *hits += count;
            *last_us = now_us;
        }
    }
}

impl Core {
    /// The allowed values of an account.
    pub(crate) fn allowed_values(
        &self,
        account_id: &str,
        entries: &[AllowBody],
    ) -> Result<AllowedValues> {
        let read = |entry: &AllowBody| {
            let code = STANDARD.decode(&entry.code).ok();
            let code = code.and_then(|code| code.try_into().ok());
            let code = code.ok_or(StoreError::Unreadable(ENTRY))?;
            Ok((code, entry.id.clone()))
        };
        let entries: Vec<_> = entries.iter().map(read).collect::<Result<_>>()?;
        let key = || self.allow_key(account_id);
        Ok(AllowedValues::new(key, entries.into_iter()))
    }

    fn allow_key(&self, account_id: &str) -> cmac::Key {
        let pepper = &self.keyring.root.pepper;
        short_key(sign(pepper, &["allowed values", account_id]))
    }
}
