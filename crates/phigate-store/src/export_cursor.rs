//! The durable place of an export in the chains of its account.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::core::Core;
use crate::item::{Item, ItemKind};
use crate::model::ExportState;
use crate::store::Store;
use crate::{Result, StoreError};

/// Rows read at a time while the end of a signed group is looked for.
const PAGE: i64 = 256;

/// Places of an export, its holder, and its latest failure.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct CursorBody {
    /// Last place of each chain that the target has.
    pub(crate) places: BTreeMap<i64, i64>,
    /// Last place of each chain that the exporter looked at: what follows the confirmed lines may be left out.
    #[serde(default)]
    pub(crate) seen: BTreeMap<i64, i64>,
    /// Chains whose first line the target has.
    #[serde(default)]
    pub(crate) begun: BTreeSet<i64>,
    /// Process that sends.
    #[serde(default)]
    pub(crate) holder: Option<Uuid>,
    /// Reason for the latest failure, while it fails.
    #[serde(default)]
    pub(crate) problem: Option<String>,
    /// Records that the receiver refused for good.
    #[serde(default)]
    pub(crate) rejected: u64,
}

/// The cursor of a target.
pub(crate) async fn read(core: &Core, account: &str, name: &str) -> Result<(Item, CursorBody)> {
    let item = core
        .guard()
        .item(account, ItemKind::ExportCursor, name)
        .await?;
    let item = item.ok_or(StoreError::NotFound(ItemKind::ExportTarget.label()))?;
    let body = item.read()?;
    Ok((item, body))
}

impl CursorBody {
    /// A cursor behind every record that exists now. Every chain ends with a signature.
    pub(crate) async fn at_the_end(store: &dyn Store, account: &str) -> Result<Self> {
        let heads = store.heads(Some(account)).await?;
        Ok(Self {
            places: heads.iter().map(|head| (head.lane, head.seq)).collect(),
            ..Self::default()
        })
    }

    /// A cursor before the records from a time on.
    pub(crate) async fn before(store: &dyn Store, account: &str, time: Timestamp) -> Result<Self> {
        let time_us = time.as_microsecond();
        let mut places = BTreeMap::new();
        for head in store.heads(Some(account)).await? {
            let (mut low, mut high) = (0, head.seq);
            while low < high {
                let middle = low + (high - low) / 2;
                let row = store.chain(account, head.lane, middle, 1).await?;
                match row.first().is_some_and(|row| row.time_us < time_us) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            places.insert(head.lane, signed(store, account, head.lane, low).await?);
        }
        Ok(Self {
            places,
            ..Self::default()
        })
    }

    /// Progress of the export.
    pub(crate) async fn state(&self, core: &Core, account: &str) -> Result<ExportState> {
        let mut state = ExportState {
            problem: self.problem.clone(),
            rejected: self.rejected,
            ..ExportState::default()
        };
        let mut oldest: Option<i64> = None;
        for head in core.store.heads(Some(account)).await? {
            let place = self.reached(head.lane);
            state.lag_records += (head.seq - place).max(0).unsigned_abs();
            if place < head.seq {
                let next = core.store.chain(account, head.lane, place, 1).await?;
                let time = next.first().map(|row| row.time_us);
                oldest = oldest.into_iter().chain(time).min();
            }
        }
        if let Some(oldest) = oldest {
            let age = core.now().as_microsecond().saturating_sub(oldest);
            state.lag_s = age.max(0).unsigned_abs() / 1_000_000;
        }
        Ok(state)
    }

    /// Last place of a chain that needs nothing more.
    pub(crate) fn reached(&self, lane: i64) -> i64 {
        let of = |places: &BTreeMap<i64, i64>| places.get(&lane).copied().unwrap_or_default();
        of(&self.places).max(of(&self.seen))
    }
}

/// The last signed place up to this one: a receiver can begin behind it.
async fn signed(store: &dyn Store, account: &str, lane: i64, mut upto: i64) -> Result<i64> {
    while upto > 0 {
        let after = (upto - PAGE).max(0);
        let limit = usize::try_from(upto - after).unwrap_or_default();
        let rows = store.chain(account, lane, after, limit).await?;
        let last = rows
            .iter()
            .rev()
            .find(|row| row.link.signature.is_some() && row.link.seq <= upto);
        if let Some(row) = last {
            return Ok(row.link.seq);
        }
        upto = after;
    }
    Ok(0)
}

/// Numbers of rows of an account beyond the place that a target has reached, by target, among rows to be deleted.
pub(crate) async fn unsent(
    core: &Core,
    account: &str,
    places: &[(i64, i64)],
) -> Result<Vec<(String, usize)>> {
    let mut lost = Vec::new();
    let targets = core.guard().items(account, ItemKind::ExportTarget).await?;
    for target in targets {
        let (_, cursor) = read(core, account, &target.id).await?;
        let count = places
            .iter()
            .filter(|(lane, seq)| *seq > cursor.reached(*lane))
            .count();
        if count > 0 {
            lost.push((target.id, count));
        }
    }
    Ok(lost)
}
