//! Recognizers of accounts: kinds of PHI that an owner defines, each a sealed row.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};

use crate::accounts::Accounts;
use crate::core::{Core, about};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{By, RecognizerInfo, StoredRecognizer};
use crate::{Result, SecretString, StoreError};

use super::policy::{Changed, marked};

/// Limit of recognizers per account.
pub(super) const RECOGNIZERS_MAX: usize = 64;

/// A recognizer as stored.
#[derive(Serialize, Deserialize)]
struct RecognizerBody {
    /// The definition.
    sealed: String,
    set: Timestamp,
    set_by: String,
}

/// Recognizers of accounts.
#[derive(Clone)]
pub struct RecognizerLists {
    accounts: Accounts,
}

impl RecognizerLists {
    pub(crate) fn new(accounts: Accounts) -> Self {
        Self { accounts }
    }

    /// Adds a recognizer, or replaces the one with its code, for every call that starts after the return.
    pub async fn set<'a>(
        &self,
        account_id: &str,
        recognizer: &StoredRecognizer,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let core = &self.accounts.core;
        let (now, by) = (core.now(), by.into());
        let code = recognizer.code.as_str();
        let (_, account) = core.account_item(account_id).await?;
        let rows = core.guard().items(account_id, ItemKind::Recognizer).await?;
        let old = rows.iter().find(|item| item.id == code);
        if old.is_none() && rows.len() >= RECOGNIZERS_MAX {
            return Err(StoreError::Invalid {
                what: "account",
                why: "it has 64 recognizers, and cannot have more",
            });
        }
        let put = core.recognizer_put(account_id, recognizer, old, by).await?;
        let act = by.act(now, &account.name, Act::RecognizerSet).target(code);
        // A new definition may find less than the one before.
        let act = marked(act, old.is_some());
        let changed = core.change(account_id, &act, vec![put], true).await;
        changed.map_err(about(ItemKind::Recognizer.label()))
    }

    /// Removes a recognizer, and the words about its kind at every level, for every call that starts after the return.
    pub async fn remove<'a>(
        &self,
        account_id: &str,
        code: &str,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let core = &self.accounts.core;
        let rows = core.guard().items(account_id, ItemKind::Recognizer).await?;
        let row = rows.iter().find(|item| item.id == code);
        let row = row.ok_or(StoreError::NotFound(ItemKind::Recognizer.label()))?;
        let (now, by) = (core.now(), by.into());
        self.accounts
            .change_policy(account_id, |stored| {
                let act = by.act(now, &stored.account.1.name, Act::RecognizerRemove);
                Ok(Changed {
                    words: stored.words.without(code),
                    detection: None,
                    further: vec![row.deleted()],
                    act: marked(act.target(code), true),
                })
            })
            .await
    }

    /// The recognizers of an account, by code.
    pub async fn list(&self, account_id: &str) -> Result<Vec<RecognizerInfo>> {
        let core = &self.accounts.core;
        let rows = core.guard().items(account_id, ItemKind::Recognizer).await?;
        let mut list = Vec::with_capacity(rows.len());
        for item in &rows {
            let body: RecognizerBody = item.read()?;
            list.push(RecognizerInfo {
                recognizer: core.open_recognizer(item).await?,
                set: body.set,
                set_by: body.set_by,
            });
        }
        Ok(list)
    }
}

impl Core {
    /// The row of a recognizer, sealed, as a change.
    pub(super) async fn recognizer_put(
        &self,
        account_id: &str,
        recognizer: &StoredRecognizer,
        old: Option<&Item>,
        by: By<'_>,
    ) -> Result<Change> {
        let (now, code) = (self.now(), recognizer.code.as_str());
        let definition = recognizer.definition.expose().as_bytes();
        let place = place(account_id, code);
        let sealed = self.keyring.seal(Purpose::Secrets, now, place, definition);
        let body = RecognizerBody {
            sealed: STANDARD.encode(sealed.await?),
            set: now,
            set_by: by.actor.to_owned(),
        };
        Ok(match old {
            Some(old) => old.replaced_by(&body),
            None => {
                let item = Item::new(account_id, ItemKind::Recognizer, code, None, &body);
                Change::Put(item, Expect::Absent)
            }
        })
    }

    /// Unseals a recognizer.
    pub(super) async fn open_recognizer(&self, item: &Item) -> Result<StoredRecognizer> {
        let unreadable = || StoreError::Unreadable(ItemKind::Recognizer.label());
        let body: RecognizerBody = item.read()?;
        let sealed = STANDARD.decode(&body.sealed).map_err(|_| unreadable())?;
        let opened = self.keyring.unseal(place(&item.account, &item.id), &sealed);
        let opened = opened.await?;
        let definition = std::str::from_utf8(opened.expose()).map_err(|_| unreadable())?;
        Ok(StoredRecognizer {
            code: item.id.as_str().into(),
            definition: SecretString::from(definition),
        })
    }
}

fn place<'p>(account: &'p str, code: &'p str) -> Place<'p> {
    Place {
        account,
        table: ItemKind::Recognizer.code(),
        record: code,
        field: "definition",
    }
}
