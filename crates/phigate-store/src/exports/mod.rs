//! Exports: targets, their sealed secrets, and the durable place of each in the chains.
//!
//! A target is an item that only owners change. Its cursor is a separate item, which the one exporter that holds it
//! rewrites as the target confirms lines. A cursor names its holder; it is free when the holder's process is gone.

mod lane;
mod run;

pub use run::ExportRun;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};

use crate::core::{Core, about};
use crate::export_cursor::{self as cursor, CursorBody};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::seal::Place;
use crate::keys::wrapped::Purpose;
use crate::model::{AdminAct, By, ExportConfig, ExportInfo, ExportState};
use crate::{Result, SecretString, StoreError};

/// Attempts at a change while the exporter saves its place.
const TRIES: usize = 16;

/// Targets outside the installation, and their progress.
#[derive(Clone)]
pub struct Exports {
    core: Arc<Core>,
}

/// A target as stored.
#[derive(Serialize, Deserialize)]
struct TargetBody {
    #[serde(flatten)]
    config: ExportConfig,
    #[serde(default)]
    sealed: Option<String>,
    #[serde(default)]
    paused: bool,
    /// Number of times that it was sent back in time: each restarts its exporter.
    #[serde(default)]
    rewound: u64,
}

impl Exports {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Adds a target. It receives the records after this act.
    pub async fn add<'a>(
        &self,
        account_id: &str,
        name: &str,
        config: &ExportConfig,
        secret: Option<&SecretString>,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let by = by.into();
        let (_, account) = self.core.account_item(account_id).await?;
        let sealed = match secret {
            Some(secret) => Some(self.seal(account_id, name, config, secret).await?),
            None => None,
        };
        let target = TargetBody {
            config: config.clone(),
            sealed,
            paused: false,
            rewound: 0,
        };
        let item = Item::new(account_id, ItemKind::ExportTarget, name, None, &target);
        let cursor = CursorBody::at_the_end(&*self.core.store, account_id).await?;
        let cursor = Item::new(account_id, ItemKind::ExportCursor, name, None, &cursor);
        let changes = vec![
            Change::Put(item, Expect::Absent),
            Change::Put(cursor, Expect::Absent),
        ];
        let words: Vec<&str> = config.records.iter().map(|kind| kind.code()).collect();
        let mut act = by
            .act(self.core.now(), &account.name, Act::ExportAdd)
            .target(name)
            .detail("to", &shown_address(&config.to))
            .detail("records", &words.join(","));
        if let Some(only) = config.only {
            act = act.detail("only", &only);
        }
        let added = self.core.change(account_id, &act, changes, true).await;
        added.map_err(about(ItemKind::ExportTarget.label()))
    }

    /// The targets of an account, by name.
    pub async fn list(&self, account_id: &str) -> Result<Vec<ExportInfo>> {
        let guard = self.core.guard();
        let items = guard.items(account_id, ItemKind::ExportTarget).await?;
        items.iter().map(info).collect()
    }

    /// The targets of all accounts.
    pub async fn all(&self) -> Result<Vec<ExportInfo>> {
        let guard = self.core.guard();
        let items = guard.items_of_all(ItemKind::ExportTarget).await?;
        items.iter().map(info).collect()
    }

    /// One target with its secret in the clear.
    pub async fn target(
        &self,
        account_id: &str,
        name: &str,
    ) -> Result<(ExportInfo, Option<SecretString>)> {
        let (item, stored) = self.stored(account_id, name).await?;
        let secret = match &stored.sealed {
            Some(sealed) => Some(self.unseal(&item, &stored.config, sealed).await?),
            None => None,
        };
        Ok((info(&item)?, secret))
    }

    /// Progress of a target, as far as its exporter has saved it.
    pub async fn state(&self, account_id: &str, name: &str) -> Result<ExportState> {
        let (_, cursor) = self.cursor(account_id, name).await?;
        cursor.state(&self.core, account_id).await
    }

    /// Pauses a target, or resumes it.
    pub async fn pause(&self, account_id: &str, name: &str, pause: bool, by: &str) -> Result<()> {
        let act = match pause {
            true => Act::ExportPause,
            false => Act::ExportResume,
        };
        let (_, mut stored) = self.stored(account_id, name).await?;
        stored.paused = pause;
        let act = self.act(account_id, name, act, by).await?;
        self.restart(account_id, name, &stored, None, act).await
    }

    /// Sends everything from a time on once more.
    pub async fn rewind(
        &self,
        account_id: &str,
        name: &str,
        to: Timestamp,
        by: &str,
    ) -> Result<()> {
        let (_, mut stored) = self.stored(account_id, name).await?;
        stored.rewound += 1;
        let cursor = CursorBody::before(&*self.core.store, account_id, to).await?;
        let act = self.act(account_id, name, Act::ExportRewind, by).await?;
        let act = act.detail("to", &to);
        self.restart(account_id, name, &stored, Some(cursor), act)
            .await
    }

    /// Changes a target, and its cursor in any case: from then on the run of before is over.
    async fn restart(
        &self,
        account_id: &str,
        name: &str,
        target: &TargetBody,
        cursor: Option<CursorBody>,
        act: AdminAct,
    ) -> Result<()> {
        for _ in 0..TRIES {
            let (item, _) = self.stored(account_id, name).await?;
            let (old, kept) = self.cursor(account_id, name).await?;
            let cursor = cursor.clone().unwrap_or(CursorBody {
                holder: None,
                ..kept
            });
            let changes = vec![item.replaced_by(target), old.replaced_by(&cursor)];
            match self.core.change(account_id, &act, changes, true).await {
                // The exporter saved its place in between.
                Err(StoreError::Conflict(_)) => {}
                changed => return changed,
            }
        }
        Err(StoreError::Conflict(ItemKind::ExportTarget.label()))
    }

    /// Removes a target with its secret.
    pub async fn remove(&self, account_id: &str, name: &str, by: &str) -> Result<()> {
        let (item, _) = self.stored(account_id, name).await?;
        let (cursor, _) = self.cursor(account_id, name).await?;
        let changes = vec![item.deleted(), cursor.deleted()];
        let act = self.act(account_id, name, Act::ExportRemove, by).await?;
        let removed = self.core.change(account_id, &act, changes, true).await;
        removed.map_err(about(ItemKind::ExportTarget.label()))
    }

    /// Records that a person tried a target.
    pub async fn record_test(
        &self,
        account_id: &str,
        name: &str,
        works: bool,
        by: &str,
    ) -> Result<()> {
        let act = self.act(account_id, name, Act::ExportTest, by).await?;
        let act = act.detail("works", if works { "yes" } else { "no" });
        self.core.record_act(Some(account_id), &act).await
    }

    async fn act(&self, account_id: &str, name: &str, act: Act, by: &str) -> Result<AdminAct> {
        let (_, account) = self.core.account_item(account_id).await?;
        let now = self.core.now();
        Ok(By::from(by).act(now, &account.name, act).target(name))
    }

    async fn stored(&self, account_id: &str, name: &str) -> Result<(Item, TargetBody)> {
        let guard = self.core.guard();
        let item = guard.item(account_id, ItemKind::ExportTarget, name).await?;
        let item = item.ok_or(StoreError::NotFound(ItemKind::ExportTarget.label()))?;
        let stored = item.read()?;
        Ok((item, stored))
    }

    async fn cursor(&self, account_id: &str, name: &str) -> Result<(Item, CursorBody)> {
        cursor::read(&self.core, account_id, name).await
    }

    async fn seal(
        &self,
        account_id: &str,
        name: &str,
        config: &ExportConfig,
        secret: &SecretString,
    ) -> Result<String> {
        let field = field(config);
        let place = place(account_id, name, &field);
        let (now, bytes) = (self.core.now(), secret.expose().as_bytes());
        let keyring = &self.core.keyring;
        let sealed = keyring.seal(Purpose::Secrets, now, place, bytes);
        Ok(STANDARD.encode(sealed.await?))
    }

    async fn unseal(
        &self,
        item: &Item,
        config: &ExportConfig,
        sealed: &str,
    ) -> Result<SecretString> {
        let unreadable = || StoreError::Unreadable("secret of an export");
        let sealed = STANDARD.decode(sealed).map_err(|_| unreadable())?;
        let field = field(config);
        let place = place(&item.account, &item.id, &field);
        let opened = self.core.keyring.unseal(place, &sealed).await?;
        let secret = std::str::from_utf8(opened.expose()).map_err(|_| unreadable())?;
        Ok(SecretString::from(secret))
    }
}

/// A secret opens only beside the address it was given for.
fn field(config: &ExportConfig) -> String {
    let at = config.base_url.as_deref().unwrap_or_default();
    format!("secret for {} at {at}", config.to)
}

fn place<'a>(account: &'a str, name: &'a str, field: &'a str) -> Place<'a> {
    Place {
        account,
        table: ItemKind::ExportTarget.code(),
        record: name,
        field,
    }
}

fn info(item: &Item) -> Result<ExportInfo> {
    let stored: TargetBody = item.read()?;
    Ok(ExportInfo {
        account_id: item.account.clone(),
        name: item.id.clone(),
        config: stored.config,
        is_paused: stored.paused,
        version: item.version,
    })
}

/// An address as shown: a query may hold a secret.
pub fn shown_address(to: &str) -> String {
    match to.split_once('?') {
        Some((address, _)) => format!("{address}?…"),
        None => to.to_owned(),
    }
}
