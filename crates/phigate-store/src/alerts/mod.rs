//! Alerts: raised once per cause, subject and day, as a record first; listed, and acknowledged by a person.
//!
//! The record is the evidence. Beside it, an item per cause and subject remembers the latest alert and whether a person
//! acknowledged it.

mod recent;

use std::sync::Arc;

use phigate_types::{Act, AlertCode};

use crate::cause::{NewAlert, day, item_id, remembered};
use crate::core::Core;
use crate::item::{Change, Expect, Item, ItemKind};
use crate::model::{Acknowledged, AlertState, By};
use crate::store::SYSTEM;
use crate::writer::entry;
use crate::writer::job::{Job, Waiter};
use crate::{Result, StoreError};

pub use recent::Recent;

/// Attempts while another process raises the same alert.
const TRIES: usize = 4;

/// Alerts of accounts and of the installation.
#[derive(Clone)]
pub struct Alerts {
    core: Arc<Core>,
}

impl Alerts {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Raises an alert, unless the same one was raised today. Returns whether it was raised.
    pub async fn raise(&self, account_id: &str, new: &NewAlert<'_>) -> Result<bool> {
        raise(&self.core, account_id, new, false).await
    }

    /// Raises an alert, unless the same one was ever raised.
    pub async fn raise_once(&self, account_id: &str, new: &NewAlert<'_>) -> Result<bool> {
        raise(&self.core, account_id, new, true).await
    }

    /// The latest alert of each cause and subject, newest first.
    pub async fn list(&self, account_id: &str) -> Result<Vec<AlertState>> {
        let items = self.core.guard().items(account_id, ItemKind::Alert).await?;
        let states = items.iter().map(Item::read);
        let mut states: Vec<AlertState> = states.collect::<Result<_>>()?;
        states.sort_by_key(|state| std::cmp::Reverse(state.alert.time));
        Ok(states)
    }

    /// Notes that a person looked at the latest alert of a cause and subject. This is recorded.
    pub async fn acknowledge(
        &self,
        account_id: &str,
        code: AlertCode,
        subject: &str,
        by: By<'_>,
    ) -> Result<()> {
        let id = item_id(code, subject);
        let guard = self.core.guard();
        let item = guard.item(account_id, ItemKind::Alert, &id).await?;
        let item = item.ok_or(StoreError::NotFound(ItemKind::Alert.label()))?;
        let mut state: AlertState = item.read()?;
        let now = self.core.now();
        let act = by
            .act(now, &state.alert.account, Act::AlertAcknowledge)
            .target(code.code())
            .detail("subject", subject);
        state.acknowledged = Some(Acknowledged {
            by: by.actor.to_owned(),
            time: now,
            reason: by.reason.map(str::to_owned),
        });
        let changes = vec![item.replaced_by(&state)];
        self.core.change(account_id, &act, changes, false).await
    }
}

async fn raise(core: &Core, account_id: &str, new: &NewAlert<'_>, once: bool) -> Result<bool> {
    let account = match account_id {
        SYSTEM => String::new(),
        id => core.account_item(id).await?.1.name,
    };
    let alert = new.recorded(core.now(), &account);
    let id = item_id(new.alert, &new.subject);
    for _ in 0..TRIES {
        let known = core.store.item(account_id, ItemKind::Alert, &id).await?;
        let expect = match &known {
            None => Expect::Absent,
            Some(item) => {
                let before: AlertState = item.read()?;
                if once || day(before.alert.time) == day(alert.time) {
                    return Ok(false);
                }
                Expect::Version(item.version)
            }
        };
        let Change::Put(item, _) = remembered(account_id, &alert) else {
            return Ok(false);
        };
        let (waiter, wait) = Waiter::new(false);
        let mut job = Job::of(entry::alert(account_id, &alert), waiter);
        job.changes = vec![Change::Put(item, expect)];
        core.writer.queue.push(job).map_err(|refused| refused.1)?;
        match wait.answer.await.unwrap_or(Err(StoreError::Closed)) {
            Err(StoreError::Conflict(_)) => {}
            done => return done.map(|()| true),
        }
    }
    Err(StoreError::Conflict(ItemKind::Alert.label()))
}
