//! Checks all authenticated rows at once, when a server starts and in `audit verify`.

use std::collections::{BTreeMap, BTreeSet};

use phigate_verify::FaultKind;

use crate::guard::roll::{Oddity, Rolls, TOP, Top};
use crate::guard::{Guard, is_listed, plain, tampered};
use crate::item::{Item, ItemKind};
use crate::store::SYSTEM;
use crate::{Result, StoreError};

/// A row that fails authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowFault {
    pub(crate) account: String,
    pub(crate) kind: ItemKind,
    pub(crate) id: String,
    pub(crate) what: FaultKind,
}

impl From<RowFault> for StoreError {
    fn from(fault: RowFault) -> Self {
        tampered(&fault.account, fault.kind, &fault.id)
    }
}

/// The top roll of each account, against which the trail is checked.
pub(crate) type Seen = BTreeMap<String, Top>;

impl Guard {
    /// Checks all rows, or those of one account, and names the first fault.
    pub(crate) async fn check(&self, only: Option<&str>) -> Result<Result<Seen, RowFault>> {
        let all = match only {
            Some(account) => {
                // Parts of rosters are large, and are checked when they are read.
                let kinds = ItemKind::all().filter(|kind| *kind != ItemKind::RosterPart);
                let kinds: Vec<ItemKind> = kinds.collect();
                self.store.account_items(account, &kinds).await?
            }
            None => self.store.all_items().await?,
        };
        let mut by_account: BTreeMap<&str, Vec<&Item>> = BTreeMap::new();
        for item in &all {
            by_account.entry(&item.account).or_default().push(item);
        }
        let mut seen = Seen::new();
        for (account, items) in &by_account {
            match self.check_account(account, items) {
                Ok(Some(top)) => drop(seen.insert((*account).to_owned(), top)),
                Ok(None) => {}
                Err(fault) => return Ok(Err(fault)),
            }
        }
        if only.is_some() {
            return Ok(Ok(seen));
        }
        let system = by_account.get(SYSTEM).cloned().unwrap_or_default();
        Ok(check_accounts(&rolls(&system).unwrap_or_default(), &all).map(|()| seen))
    }

    fn check_account(&self, account: &str, items: &[&Item]) -> Result<Option<Top>, RowFault> {
        let fault = |kind, id: &str, what| RowFault {
            account: account.to_owned(),
            kind,
            id: plain(id),
            what,
        };
        let genuine: Vec<&Item> = items
            .iter()
            .copied()
            .filter(|item| self.is_genuine(item))
            .collect();
        if let Some(item) = items.iter().find(|item| !self.is_genuine(item)) {
            // The roll shows whether the row existed before.
            let known = rolls(&genuine).unwrap_or_default().roll(item.kind);
            let what = match known.contains_key(&item.id) || item.kind == ItemKind::Roll {
                true => FaultKind::Changed,
                false => FaultKind::Inserted,
            };
            return Err(fault(item.kind, &item.id, what));
        }
        let rolls = rolls(&genuine).map_err(|id| fault(ItemKind::Roll, &id, FaultKind::Changed))?;
        for kind in ItemKind::all().filter(|kind| is_listed(account, *kind)) {
            if account == SYSTEM && kind == ItemKind::Account {
                continue;
            }
            if let Some((id, oddity)) = rolls.odd_row(kind, genuine.iter().copied()) {
                let what = match oddity {
                    Oddity::Other => FaultKind::Changed,
                    Oddity::Unlisted => FaultKind::Inserted,
                    Oddity::Missing => FaultKind::Missing,
                };
                return Err(fault(kind, &id, what));
            }
        }
        Ok(rolls.top.map(|(_, top)| top))
    }
}

fn rolls(items: &[&Item]) -> Result<Rolls, String> {
    let rolls = items.iter().filter(|item| item.kind == ItemKind::Roll);
    Rolls::read(&rolls.map(|item| (*item).clone()).collect::<Vec<Item>>())
}

/// Checks the accounts against the installation's roll of accounts.
fn check_accounts(system: &Rolls, all: &[Item]) -> Result<(), RowFault> {
    let roll = system.roll(ItemKind::Account);
    let is_account = |item: &&Item| item.kind == ItemKind::Account;
    let found: BTreeSet<&String> = all.iter().filter(is_account).map(|item| &item.id).collect();
    let fault = |id: &str, what| RowFault {
        account: id.to_owned(),
        kind: ItemKind::Account,
        id: plain(id),
        what,
    };
    if system.top.is_none() && !found.is_empty() {
        return Err(RowFault {
            account: SYSTEM.to_owned(),
            kind: ItemKind::Roll,
            id: TOP.to_owned(),
            what: FaultKind::Missing,
        });
    }
    let missing = roll.keys().find(|id| !found.contains(id));
    if let Some(id) = missing {
        return Err(fault(id, FaultKind::Missing));
    }
    match found.iter().find(|id| !roll.contains_key(**id)) {
        Some(id) => Err(fault(id, FaultKind::Inserted)),
        None => Ok(()),
    }
}
