//! Policy of an account: its words, those of its groups, and those of its keys.

use std::collections::BTreeMap;

use phigate_types::{Act, Level};
use smol_str::SmolStr;

use crate::accounts::{AccountBody, Accounts};
use crate::core::Core;
use crate::item::{Change, Item, ItemKind};
use crate::model::{AdminAct, By, Detection, KeyBody, PolicyLevel, PolicyWords, WordChanges};
use crate::{Result, StoreError};

/// Attempts while other processes change the same account.
const TRIES: usize = 16;

/// Name of a group: 1 to 32 letters, digits, dots, hyphens or underscores.
const GROUP_MAX: usize = 32;

/// Account and keys as stored, with the words of all levels.
pub(super) struct Stored {
    pub(super) account: (Item, AccountBody),
    keys: BTreeMap<String, (Item, KeyBody)>,
    pub(super) words: PolicyWords,
}

impl Stored {
    /// Changes of the keys whose words or group differ.
    pub(super) fn key_rows(&self, after: &PolicyWords) -> Vec<Change> {
        let mut rows = Vec::new();
        for (id, (item, body)) in &self.keys {
            if after.keys.get(id) != Some(&body.words) {
                let mut body = body.clone();
                body.words = after.keys.get(id).cloned().unwrap_or_default();
                rows.push(item.replaced_by(&body));
            }
        }
        rows
    }
}

/// Words of all levels after a change, with its act.
pub(super) struct Changed {
    pub(super) words: PolicyWords,
    /// The new settings of detection, if the change concerns them.
    pub(super) detection: Option<Detection>,
    /// Changes of further rows.
    pub(super) further: Vec<Change>,
    pub(super) act: AdminAct,
}

impl Changed {
    /// A change of words alone.
    fn of_words(words: PolicyWords, act: AdminAct) -> Self {
        Self {
            words,
            detection: None,
            further: Vec::new(),
            act,
        }
    }
}

impl Accounts {
    /// The words of all levels.
    pub async fn policy(&self, account_id: &str) -> Result<PolicyWords> {
        Ok(self.core.policy_rows(account_id).await?.words)
    }

    /// Changes words of a level. Every call that starts after the return is treated by them. The record has the words of
    /// the level before and after, and spells out every policy that is new.
    pub async fn set_policy<'a>(
        &self,
        account_id: &str,
        level: PolicyLevel<'_>,
        changes: &WordChanges,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        self.set_policies(account_id, &[(level, changes)], by).await
    }

    /// Changes words of several levels, all or none of them, with one record.
    pub async fn set_policies<'a>(
        &self,
        account_id: &str,
        levels: &[(PolicyLevel<'_>, &WordChanges)],
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        for (level, _) in levels {
            if let PolicyLevel::Group(name) = level {
                check_group(name)?;
            }
        }
        let by = by.into();
        self.change_policy(account_id, |stored| {
            let mut after = stored.words.clone();
            for (level, changes) in levels {
                let changed = after.changed(*level, changes);
                after = changed.ok_or_else(|| unsayable(stored, *level))?;
            }
            let is_weaker = levels.iter().any(|(level, changes)| {
                let mut kinds = changes.keys();
                kinds.any(|kind| is_weaker(*level, kind, &stored.words, &after))
            });
            let names = levels
                .iter()
                .map(|(level, _)| Level::from(*level).to_string());
            let act = by
                .act(self.core.now(), &stored.account.1.name, Act::PolicySet)
                .target(&names.collect::<Vec<String>>().join(", "))
                .change(&written(&stored.words, levels), &written(&after, levels));
            Ok(Changed::of_words(after, marked(act, is_weaker)))
        })
        .await
    }

    /// Moves a key to a group, or out of its group.
    pub async fn set_key_group<'a>(
        &self,
        account_id: &str,
        key_id: &str,
        group: Option<&str>,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        group.map_or(Ok(()), check_group)?;
        let by = by.into();
        self.change_policy(account_id, |stored| {
            let mut after = stored.words.clone();
            let key = after.keys.get_mut(key_id);
            let key = key.ok_or(StoreError::NotFound(ItemKind::ApiKey.label()))?;
            let before = std::mem::replace(&mut key.group, group.map(SmolStr::from));
            let act = by
                .act(self.core.now(), &stored.account.1.name, Act::KeySet)
                .target(key_id)
                .change(before.as_deref().unwrap_or(""), group.unwrap_or(""));
            let act = marked(act, stored.words.is_stricter_for(key_id, &after));
            Ok(Changed::of_words(after, act))
        })
        .await
    }

    /// Writes the rows whose words changed, and further changes, with the act; tries again after a concurrent change.
    pub(super) async fn change_policy(
        &self,
        account_id: &str,
        change: impl Fn(&Stored) -> Result<Changed>,
    ) -> Result<()> {
        for _ in 0..TRIES {
            let stored = self.core.policy_rows(account_id).await?;
            let Changed {
                words: after,
                detection,
                further: mut changes,
                act,
            } = change(&stored)?;
            let (item, body) = &stored.account;
            let detection = detection.filter(|after| *after != body.settings.detection);
            if after == stored.words && detection.is_none() && changes.is_empty() {
                return Ok(());
            }
            let act = spelled_out(act, &stored.words, &after);
            let is_said = (&body.policy, &body.groups) == (&after.account, &after.groups);
            if !is_said || detection.is_some() {
                let mut body = body.clone();
                body.policy.clone_from(&after.account);
                body.groups.clone_from(&after.groups);
                if let Some(detection) = detection {
                    body.settings.detection = detection;
                }
                changes.push(item.replaced_by(&body));
            } else {
                // The words of a key are judged together with those of account and groups.
                changes.push(item.unchanged());
            }
            changes.extend(stored.key_rows(&after));
            match self.core.change(account_id, &act, changes, true).await {
                Err(StoreError::Conflict(_)) => {}
                done => return done,
            }
        }
        Err(StoreError::Conflict(ItemKind::Account.label()))
    }
}

impl Core {
    pub(super) async fn policy_rows(&self, account_id: &str) -> Result<Stored> {
        let kinds = [ItemKind::Account, ItemKind::ApiKey];
        let rows = self.guard().rows(account_id, &kinds).await?;
        let mut account = None;
        let mut keys = BTreeMap::new();
        for item in rows {
            if item.kind == ItemKind::Account {
                let body: AccountBody = item.read()?;
                account = Some((item, body));
            } else {
                let body: KeyBody = item.read()?;
                keys.insert(item.id.clone(), (item, body));
            }
        }
        let account = account.ok_or(StoreError::NotFound(ItemKind::Account.label()))?;
        let mut words = account.1.words();
        let of_keys = keys
            .iter()
            .map(|(id, (_, body))| (id.clone(), body.words.clone()));
        words.keys = of_keys.collect();
        Ok(Stored {
            account,
            keys,
            words,
        })
    }
}

/// Reason why a level cannot say words.
fn unsayable(stored: &Stored, level: PolicyLevel<'_>) -> StoreError {
    match level {
        PolicyLevel::Key(id) if !stored.keys.contains_key(id) => {
            StoreError::NotFound(ItemKind::ApiKey.label())
        }
        _ => StoreError::Invalid {
            what: "policy",
            why: "off is for the account alone",
        },
    }
}

fn is_weaker(
    level: PolicyLevel<'_>,
    kind: &str,
    before: &PolicyWords,
    after: &PolicyWords,
) -> bool {
    after.own_word(level, kind).strength() < before.own_word(level, kind).strength()
}

/// The words of levels; with their names if there are several.
fn written(words: &PolicyWords, levels: &[(PolicyLevel<'_>, &WordChanges)]) -> String {
    if let [(level, _)] = levels {
        return words.written(*level);
    }
    let said = levels
        .iter()
        .map(|(level, _)| format!("{} {}", Level::from(*level), words.written(*level)));
    said.collect::<Vec<String>>().join("; ")
}

/// Marks an act that reduces protection.
pub(super) fn marked(act: AdminAct, is_weaker: bool) -> AdminAct {
    match is_weaker {
        true => act.detail("protection", "reduced"),
        false => act,
    }
}

/// Adds the text of every policy that was not in force before. Records of requests have only its name.
pub(crate) fn spelled_out(act: AdminAct, before: &PolicyWords, after: &PolicyWords) -> AdminAct {
    let known = before.texts();
    let texts = after.texts().into_iter();
    let new = texts.filter(|(name, _)| !known.contains_key(name));
    new.fold(act, |act, (name, text)| {
        act.detail(&format!("policy {name}"), &text)
    })
}

/// Refuses names of groups that would not fit a line or a record.
pub(crate) fn check_group(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    match (1..=GROUP_MAX).contains(&name.len()) && name.bytes().all(is_plain) {
        true => Ok(()),
        false => Err(StoreError::Invalid {
            what: "name of a group",
            why: "use 1 to 32 letters, digits, dots, hyphens or underscores",
        }),
    }
}
