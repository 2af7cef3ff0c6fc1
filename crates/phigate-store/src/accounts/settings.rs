//! Mode, settings, aliases and fallbacks of an account.

use std::collections::BTreeMap;

use phigate_types::{Act, Effect, Mode};

use super::policy::marked;
use crate::Result;
use crate::accounts::Accounts;
use crate::model::{AdminAct, By, ModeState, Settings};

/// Whether a mode forwards PHI unchanged.
fn forwards(mode: Mode) -> bool {
    matches!(mode.effect, Effect::Keep)
}

impl Accounts {
    /// The mode in force and its last change.
    pub async fn mode(&self, account_id: &str) -> Result<ModeState> {
        let (_, stored) = self.core.account_item(account_id).await?;
        Ok(ModeState {
            mode: stored.mode,
            previous: stored.previous_mode,
            changed_by: stored.mode_changed_by,
            changed: stored.mode_changed,
        })
    }

    /// Changes the mode. Every call that starts after the return uses the new mode.
    pub async fn set_mode<'a>(
        &self,
        account_id: &str,
        mode: Mode,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let (now, by) = (self.core.now(), by.into());
        self.edit_account(account_id, |stored| {
            let act = by
                .act(now, &stored.name, Act::ModeSet)
                .change(stored.mode.code(), mode.code());
            let act = marked(act, forwards(mode) && !forwards(stored.mode));
            stored.previous_mode = Some(std::mem::replace(&mut stored.mode, mode));
            stored.mode_changed_by = Some(by.actor.to_owned());
            stored.mode_changed = Some(now);
            Ok(Some(act))
        })
        .await
    }

    /// The settings of an account.
    pub async fn settings(&self, account_id: &str) -> Result<Settings> {
        Ok(self.core.account_item(account_id).await?.1.settings)
    }

    /// Changes some settings of an account; the record names the changes.
    pub async fn edit_settings<'a>(
        &self,
        account_id: &str,
        change: impl Fn(&mut Settings),
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let (now, by) = (self.core.now(), by.into());
        self.edit_account(account_id, |stored| {
            let from = to_text(&stored.settings);
            change(&mut stored.settings);
            let to = to_text(&stored.settings);
            let act = by.act(now, &stored.name, Act::SettingsSet);
            // A reason is asked for if protection is reduced.
            let act = marked(act.change(&from, &to), by.reason.is_some());
            Ok((from != to).then_some(act))
        })
        .await
    }

    /// Replaces the settings of an account; the record names the changes.
    pub async fn set_settings(
        &self,
        account_id: &str,
        settings: &Settings,
        actor: &str,
    ) -> Result<()> {
        let now = self.core.now();
        self.edit_account(account_id, |stored| {
            if stored.settings == *settings {
                return Ok(None);
            }
            let (from, to) = (to_text(&stored.settings), to_text(settings));
            let act = AdminAct::new(now, &stored.name, actor, Act::SettingsSet).change(&from, &to);
            stored.settings = settings.clone();
            Ok(Some(act))
        })
        .await
    }

    /// The model aliases of an account.
    pub async fn aliases(&self, account_id: &str) -> Result<BTreeMap<String, String>> {
        Ok(self.core.account_item(account_id).await?.1.aliases)
    }

    /// Maps a model id to another, or removes the mapping.
    pub async fn set_alias(
        &self,
        account_id: &str,
        model: &str,
        to: Option<&str>,
        actor: &str,
    ) -> Result<()> {
        let now = self.core.now();
        self.edit_account(account_id, |stored| {
            let before = match to {
                Some(to) => stored.aliases.insert(model.to_owned(), to.to_owned()),
                None => stored.aliases.remove(model),
            };
            if before.as_deref() == to {
                return Ok(None);
            }
            let act = AdminAct::new(now, &stored.name, actor, Act::AliasSet)
                .target(model)
                .change(before.as_deref().unwrap_or(""), to.unwrap_or(""));
            Ok(Some(act))
        })
        .await
    }
}

impl Accounts {
    /// The fallbacks of each model, for failures of its providers.
    pub async fn fallbacks(&self, account_id: &str) -> Result<BTreeMap<String, Vec<String>>> {
        Ok(self.core.account_item(account_id).await?.1.fallbacks)
    }

    /// Sets the fallbacks of a model; an empty list removes them.
    pub async fn set_fallback(
        &self,
        account_id: &str,
        model: &str,
        targets: &[String],
        actor: &str,
    ) -> Result<()> {
        let now = self.core.now();
        self.edit_account(account_id, |stored| {
            let (act, before) = match targets {
                [] => (Act::FallbackRemove, stored.fallbacks.remove(model)),
                _ => {
                    let before = stored.fallbacks.insert(model.to_owned(), targets.to_vec());
                    (Act::FallbackSet, before)
                }
            };
            let before = before.unwrap_or_default();
            if before == targets {
                return Ok(None);
            }
            let act = AdminAct::new(now, &stored.name, actor, act)
                .target(model)
                .change(&before.join(","), &targets.join(","));
            Ok(Some(act))
        })
        .await
    }
}

fn to_text(settings: &Settings) -> String {
    serde_json::to_string(settings).expect("settings are plain values")
}
