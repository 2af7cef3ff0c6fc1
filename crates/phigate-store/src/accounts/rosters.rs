//! Rosters of accounts: patients as keyed codes, in parts of a size that databases like.
//!
//! The parts of an import are written first, and count only once the row of the roster names them. A process that dies
//! in between leaves parts that no row names.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use phigate_types::Act;
use serde::{Deserialize, Serialize};

use crate::accounts::Accounts;
use crate::codes::sign;
use crate::core::{Core, about};
use crate::item::{Change, Expect, Item, ItemKind};
use crate::keys::random_id;
use crate::model::{By, RosterCodes, RosterDraft, RosterInfo, RosterKey, Rosters};
use crate::{Result, StoreError};

use super::policy::{check_group, marked};

/// Limit of rosters per account.
const ROSTERS_MAX: usize = 16;

/// Codes per part: a row of 1.4 MB.
const PART_CODES: usize = 1 << 17;

/// A roster as stored.
#[derive(Serialize, Deserialize)]
struct RosterBody {
    /// Id of the import, with which the ids of its parts begin.
    set: String,
    parts: usize,
    codes: usize,
    patients: u64,
    imported: Timestamp,
    imported_by: String,
}

/// Rosters of accounts.
#[derive(Clone)]
pub struct RosterLists {
    accounts: Accounts,
}

impl RosterLists {
    pub(crate) fn new(accounts: Accounts) -> Self {
        Self { accounts }
    }

    /// Begins an import.
    pub fn draft(&self, account_id: &str) -> RosterDraft {
        RosterDraft::new(self.accounts.core.roster_key(account_id))
    }

    /// Stores a roster, or replaces the one of its name, for every call that starts after the return.
    pub async fn import<'a>(
        &self,
        account_id: &str,
        name: &str,
        (draft, patients): (RosterDraft, u64),
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        check_group(name).map_err(|_| StoreError::Invalid {
            what: "name of a roster",
            why: "use 1 to 32 letters, digits, dots, hyphens or underscores",
        })?;
        let core = &self.accounts.core;
        let (_, account) = core.account_item(account_id).await?;
        let rows = core.guard().items(account_id, ItemKind::Roster).await?;
        let old = rows.iter().find(|item| item.id == name);
        if old.is_none() && rows.len() >= ROSTERS_MAX {
            return Err(StoreError::Invalid {
                what: "account",
                why: "it has 16 rosters, and cannot have more",
            });
        }
        let (now, by) = (core.now(), by.into());
        let codes = draft.into_codes();
        let body = RosterBody {
            set: random_id(12),
            parts: codes.len().div_ceil(PART_CODES),
            codes: codes.len(),
            patients,
            imported: now,
            imported_by: by.actor.to_owned(),
        };
        let act = by.act(now, &account.name, Act::RosterImport).target(name);
        let act = act.detail("patients", &patients.to_string());
        let put = match old {
            Some(old) => old.replaced_by(&body),
            None => {
                let item = Item::new(account_id, ItemKind::Roster, name, None, &body);
                Change::Put(item, Expect::Absent)
            }
        };
        let written = core.write_parts(account_id, &body, &codes).await;
        let done = match written {
            Ok(()) => core.change(account_id, &act, vec![put], true).await,
            Err(error) => Err(error),
        };
        let unused = match (&done, old) {
            (Ok(()), Some(old)) => Some(old.read()?),
            (Ok(()), None) => None,
            (Err(_), _) => Some(body),
        };
        if let Some(unused) = unused {
            core.drop_parts(account_id, &unused).await;
        }
        done.map_err(about(ItemKind::Roster.label()))
    }

    /// Removes a roster, for every call that starts after the return.
    pub async fn remove<'a>(
        &self,
        account_id: &str,
        name: &str,
        by: impl Into<By<'a>>,
    ) -> Result<()> {
        let core = &self.accounts.core;
        let (_, account) = core.account_item(account_id).await?;
        let row = core.guard().item(account_id, ItemKind::Roster, name);
        let row = row.await?;
        let row = row.ok_or(StoreError::NotFound(ItemKind::Roster.label()))?;
        let by = by.into();
        let act = by.act(core.now(), &account.name, Act::RosterRemove);
        let act = marked(act.target(name), true);
        let changes = vec![row.unchanged(), row.deleted()];
        let removed = core.change(account_id, &act, changes, true).await;
        removed.map_err(about(ItemKind::Roster.label()))?;
        core.drop_parts(account_id, &row.read()?).await;
        Ok(())
    }

    /// The rosters of an account, by name.
    pub async fn list(&self, account_id: &str) -> Result<Vec<RosterInfo>> {
        let core = &self.accounts.core;
        let rows = core.guard().items(account_id, ItemKind::Roster).await?;
        let info = |item: &Item| {
            let body: RosterBody = item.read()?;
            Ok(RosterInfo {
                name: item.id.as_str().into(),
                patients: body.patients,
                imported: body.imported,
                imported_by: body.imported_by,
            })
        };
        rows.iter().map(info).collect()
    }
}

impl Core {
    fn roster_key(&self, account_id: &str) -> RosterKey {
        let key = sign(&self.keyring.root.pepper, &["roster", account_id]);
        let [a, b, ..] = key.as_chunks().0 else {
            return [0; 2];
        };
        [a, b].map(|bytes| u64::from_le_bytes(*bytes))
    }

    async fn write_parts(&self, account_id: &str, body: &RosterBody, codes: &[u64]) -> Result<()> {
        for (number, part) in codes.chunks(PART_CODES).enumerate() {
            let bytes: Vec<u8> = part.iter().flat_map(|code| code.to_be_bytes()).collect();
            let (id, text) = (part_id(&body.set, number), STANDARD.encode(bytes));
            let item = Item::new(account_id, ItemKind::RosterPart, &id, None, &text);
            let put = vec![Change::Put(item, Expect::Absent)];
            if !self.change_quietly(put).await? {
                return Err(StoreError::Conflict(ItemKind::RosterPart.label()));
            }
        }
        Ok(())
    }

    /// Deletes parts that no roster names any more. What cannot be deleted stays, unused.
    async fn drop_parts(&self, account_id: &str, body: &RosterBody) {
        for number in 0..body.parts {
            let delete = Change::Delete {
                account: account_id.to_owned(),
                kind: ItemKind::RosterPart,
                id: part_id(&body.set, number),
            };
            let _ = self.change_quietly(vec![delete]).await;
        }
    }

    /// The rosters of these rows, each read once per process.
    pub(super) async fn open_rosters(&self, account_id: &str, rows: &[&Item]) -> Result<Rosters> {
        let mut cache = self.rosters.lock().await;
        let is_named = |name: &str| rows.iter().any(|item| item.id == name);
        cache.retain(|(account, name), _| account != account_id || is_named(name));
        let mut all = Vec::with_capacity(rows.len());
        for item in rows {
            let body: RosterBody = item.read()?;
            let place = (account_id.to_owned(), item.id.clone());
            let known = cache.get(&place).filter(|known| known.set() == body.set);
            let roster = match known {
                Some(known) => Arc::clone(known),
                None => {
                    // The memory of the one before is free before the next is read.
                    cache.remove(&place);
                    let read = Arc::new(self.read_roster(account_id, &body).await?);
                    cache.insert(place, Arc::clone(&read));
                    read
                }
            };
            all.push(roster);
        }
        Ok(Rosters::new(self.roster_key(account_id), all))
    }

    async fn read_roster(&self, account_id: &str, body: &RosterBody) -> Result<RosterCodes> {
        let unreadable = || StoreError::Unreadable(ItemKind::Roster.label());
        let mut codes = RosterCodes::with_room(&body.set, body.codes);
        for number in 0..body.parts {
            let id = part_id(&body.set, number);
            let part = self.guard().item(account_id, ItemKind::RosterPart, &id);
            let part = part.await?.ok_or_else(unreadable)?;
            let text: &str = part.body.trim_matches('"');
            let bytes = STANDARD.decode(text).map_err(|_| unreadable())?;
            let (numbers, rest) = bytes.as_chunks::<8>();
            let numbers = numbers.iter().map(|bytes| u64::from_be_bytes(*bytes));
            let read = codes.extend(numbers).filter(|()| rest.is_empty());
            read.ok_or_else(unreadable)?;
        }
        codes.finish().ok_or_else(unreadable)
    }
}

/// Id of a part. Parts are read one by one, because all of them together are large.
fn part_id(set: &str, number: usize) -> String {
    format!("{set}-{number:05}")
}

/// The ids of the parts of a roster's row.
pub(crate) fn part_ids(row: &Item) -> Result<Vec<String>> {
    let body: RosterBody = row.read()?;
    let ids = (0..body.parts).map(|number| part_id(&body.set, number));
    Ok(ids.collect())
}
