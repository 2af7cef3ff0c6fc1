//! State of an account as a file of settings says it: read, and written in one step.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phigate_types::Act;

use crate::accounts::policy::{Stored, check_group, marked, spelled_out};
use crate::accounts::recognizers::RECOGNIZERS_MAX;
use crate::accounts::{Accounts, AllowBody};
use crate::core::Core;
use crate::item::{Change, Item, ItemKind};
use crate::model::{By, Declared, StoredRecognizer};
use crate::{Result, StoreError};

/// Rows of an account that a file speaks about besides its own and those of keys.
struct Further {
    recognizers: Vec<Item>,
    providers: Vec<Item>,
}

/// The state of an account as a file would say it.
pub async fn declared(accounts: &Accounts, account_id: &str) -> Result<Declared> {
    let stored = accounts.core.policy_rows(account_id).await?;
    let further = accounts.further(account_id).await?;
    accounts.state(&stored, &further).await
}

/// Writes all differences between two states, or none of them, with one record. Fails if the account is no longer as
/// it was before.
pub async fn declare<'a>(
    accounts: &Accounts,
    account_id: &str,
    (before, after): (&Declared, &Declared),
    (changes, is_weaker): (&str, bool),
    by: impl Into<By<'a>>,
) -> Result<()> {
    for name in after.words.group_names() {
        check_group(&name)?;
    }
    if after.recognizers.len() > RECOGNIZERS_MAX {
        return Err(StoreError::Invalid {
            what: "account",
            why: "it would have more than 64 recognizers",
        });
    }
    let by = by.into();
    let stored = accounts.core.policy_rows(account_id).await?;
    let further = accounts.further(account_id).await?;
    if accounts.state(&stored, &further).await? != *before {
        return Err(StoreError::Conflict(ItemKind::Account.label()));
    }
    let now = accounts.core.now();
    let act = by.act(now, &stored.account.1.name, Act::SettingsApply);
    let act = marked(act.detail("changes", changes), is_weaker);
    let act = spelled_out(act, &stored.words, &after.words);
    let mut rows = account_rows(&stored, after, by, now);
    for (code, definition) in &after.recognizers {
        if before.recognizers.get(code) != Some(definition) {
            let old = further.recognizers.iter().find(|item| item.id == *code);
            let recognizer = StoredRecognizer {
                code: code.clone(),
                definition: definition.clone(),
            };
            let put = accounts
                .core
                .recognizer_put(account_id, &recognizer, old, by);
            rows.push(put.await?);
        }
    }
    let is_gone = |item: &&Item| !after.recognizers.contains_key(item.id.as_str());
    let gone = further.recognizers.iter().filter(is_gone);
    rows.extend(gone.map(Item::deleted));
    for (name, config) in &after.providers {
        if before.providers.get(name) != Some(config) {
            let old = further.providers.iter().find(|item| item.id == *name);
            let put = accounts
                .core
                .provider_put(account_id, (name, config), old, by);
            rows.push(put.await?);
        }
    }
    let is_gone = |item: &&Item| !after.providers.contains_key(&item.id);
    let gone = further.providers.iter().filter(is_gone);
    rows.extend(gone.map(Item::deleted));
    accounts.core.change(account_id, &act, rows, true).await
}

impl Accounts {
    async fn further(&self, account_id: &str) -> Result<Further> {
        let guard = self.core.guard();
        Ok(Further {
            recognizers: guard.items(account_id, ItemKind::Recognizer).await?,
            providers: guard.items(account_id, ItemKind::Provider).await?,
        })
    }

    async fn state(&self, stored: &Stored, further: &Further) -> Result<Declared> {
        let (_, body) = &stored.account;
        let mut state = Declared {
            mode: body.mode,
            settings: body.settings.clone(),
            words: stored.words.clone(),
            fallbacks: body.fallbacks.clone(),
            recognizers: BTreeMap::new(),
            providers: BTreeMap::new(),
            allowed: body.allowed.iter().map(AllowBody::hashed).collect(),
        };
        for item in &further.recognizers {
            let stored = self.core.open_recognizer(item).await?;
            state.recognizers.insert(stored.code, stored.definition);
        }
        for item in &further.providers {
            let config = Core::provider_config(item)?;
            state.providers.insert(item.id.clone(), config);
        }
        Ok(state)
    }
}

/// Changes of the account's own row and of those of its keys.
fn account_rows(stored: &Stored, after: &Declared, by: By<'_>, now: Timestamp) -> Vec<Change> {
    let (item, before) = &stored.account;
    let mut body = before.clone();
    if body.mode != after.mode {
        body.previous_mode = Some(std::mem::replace(&mut body.mode, after.mode));
        body.mode_changed_by = Some(by.actor.to_owned());
        body.mode_changed = Some(now);
    }
    body.settings.clone_from(&after.settings);
    body.fallbacks.clone_from(&after.fallbacks);
    body.policy.clone_from(&after.words.account);
    body.groups.clone_from(&after.words.groups);
    body.allowed
        .retain(|entry| after.allowed.contains_key(&entry.hashed().0));
    let mut rows = vec![item.replaced_by(&body)];
    rows.extend(stored.key_rows(&after.words));
    rows
}
